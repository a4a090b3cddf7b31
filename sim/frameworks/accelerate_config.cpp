#include <algorithm>
#include <cctype>
#include <system_error>

#include "sim/frameworks/accelerate_keys.h"
#include "sim/frameworks/config_value.h"
#include "sim/frameworks/deepspeed_settings.h"
#include "sim/frameworks/dialects.h"
#include "sim/frameworks/framework_config.h"
#include "sim/text/nearest_name.h"

namespace shardscope {
namespace {

constexpr const char* kFsdp = "fsdp_config.";
constexpr const char* kDeepSpeed = "deepspeed_config.";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Keys of Accelerate's own are not "auto": it stands for their default.
std::optional<std::string> keep_default(const Setting&) { return std::nullopt; }

const ShardingStrategy* find_sharding(const std::string& text) {
  const auto& all = sharding_strategies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ShardingStrategy& strategy) {
    return strategy.number == text || strategy.name == text;
  });
  return found == all.end() ? nullptr : &*found;
}

ConfigValue text_value(std::string text, Position position) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::text;
  value.text = std::move(text);
  value.position = position;
  return value;
}

ConfigValue block_of(std::vector<ConfigMember> members, Position position) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::object;
  value.members = std::move(members);
  value.position = position;
  return value;
}

ConfigValue true_value(Position position) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::boolean;
  value.boolean = true;
  value.text = "true";
  value.position = position;
  return value;
}

ConfigValue number_value(const std::string& text, double number, Position position) {
  ConfigValue value = text_value(text, position);
  value.kind = ConfigValue::Kind::number;
  value.number = number;
  return value;
}

class Reader {
 public:
  Reader(const ConfigValue& file, const std::filesystem::path& path, const ConfigContext& context,
         ConfigReading& reading, std::vector<Fault>& faults)
      : path_(path),
        context_(context),
        reading_(reading),
        faults_(faults),
        top_(&file, "", accelerate_keys(), UnknownKeys::refused, keep_default, reading) {}

  void read() {
    read_processes();
    read_distributed_type();
    top_.report(reading_);
  }

 private:
  FrameworkConfig& config() { return reading_.config; }

  void read_processes() {
    const auto processes = top_.whole("num_processes");
    const auto machines = top_.whole("num_machines");
    if (processes) config().processes = static_cast<int>(*processes);
    if (machines) config().machines = static_cast<int>(*machines);
    if (!processes || !machines || *processes % *machines == 0) return;
    reading_.conflict(top_.setting("num_processes").given->position, "num_processes",
                      std::to_string(*processes) + " processes are not shared evenly by " +
                          std::to_string(*machines) + " machines",
                      "the total over all machines: a multiple of num_machines");
  }

  // accelerate launch starts one process then, whatever num_processes says (simple_launcher in its
  // commands/launch.py).
  void read_single_process() {
    const int processes = config().processes.value_or(1);
    if (processes > 1) {
      reading_.conflict(
          top_.setting("num_processes").given->position, "num_processes",
          std::to_string(processes) + " processes, of which distributed_type: NO launches one",
          "distributed_type: MULTI_GPU, or num_processes: 1");
    } else if (context_.ranks > 1) {
      reading_.conflict(top_.setting("distributed_type").given->position, "distributed_type",
                        "NO launches one process, not " + std::to_string(context_.ranks),
                        "distributed_type: MULTI_GPU, or one rank");
    }
    config().processes = 1;
  }

  int ranks() { return context_.ranks > 0 ? context_.ranks : config().processes.value_or(0); }

  void read_distributed_type() {
    Setting& setting = top_.setting("distributed_type");
    const auto& types = distributed_types();
    std::vector<std::string> names;
    for (const DistributedType& type : types) names.emplace_back(type.name);
    // YAML's plain NO is a word for false.
    const std::string written = setting.given == nullptr ? "" : lower(setting.given->text);
    const auto found = std::find(names.begin(), names.end(), written);
    if (setting.given == nullptr) {
      reading_.fault({}, "distributed_type", "is missing", one_of(names));
      return;
    }
    if (found == names.end()) {
      reading_.fault(setting.given->position, "distributed_type",
                     value_text(*setting.given) + " is not allowed", one_of(names),
                     nearest_name(written, names));
      return;
    }
    const DistributedType& type = types[static_cast<std::size_t>(found - names.begin())];
    if (!type.refusal.empty()) {
      reading_.fault(setting.given->position, "distributed_type",
                     value_text(*setting.given) + ": " + std::string(type.refusal),
                     "one of NO, MULTI_GPU, FSDP, DEEPSPEED");
      return;
    }
    config().strategy = type.strategy;
    if (type.strategy == "DEEPSPEED") {
      read_deepspeed();
    } else if (type.strategy == "FSDP") {
      read_fsdp();
      read_precision(false);
    } else {
      if (type.name == "no") read_single_process();
      read_precision(true);
    }
    setting.meaning = config().strategy;
    if (type.strategy != "FSDP") leave_aside("fsdp_config", "of FSDP, which is not used");
    if (type.strategy != "DEEPSPEED") {
      leave_aside("deepspeed_config", "of DeepSpeed, which is not used");
    }
    if (type.strategy != "FSDP") read_parallelism(false);
  }

  void leave_aside(const char* key, const char* meaning) {
    const ConfigValue* block = top_.setting(key).given;
    if (block == nullptr || block->members.empty()) return;  // An empty one is reported as such.
    reading_.add_item(block, {.key = key,
                              .value = value_text(*block),
                              .origin = Origin::given,
                              .effect = Effect::none,
                              .meaning = meaning});
  }

  // Under DDP, autocast keeps fp32 parameters and gradients, sums fp32 gradients and holds 16-bit
  // copies of parameters: master weights, fp32 accumulation and parameters here. FSDP gathers and
  // reduces in the 16-bit type; its fp32 shards are the master weights here.
  void read_precision(bool is_autocast) {
    Setting& setting = top_.setting("mixed_precision");
    const std::string type = setting.value.empty() ? "no" : top_.text("mixed_precision");
    if (type == "fp8") {
      reading_.fault(setting.given->position, setting.key, "fp8 is not modelled",
                     "one of no, fp16, bf16");
      return;
    }
    const bool is_half = type != "no";
    const std::string precision = type == "fp16" ? "FP16" : type == "bf16" ? "BF16" : "FP32";
    const bool keeps_fp32 = is_autocast && is_half;
    const auto set = [&](const char* field, const std::string& value) {
      reading_.override_field(field, value, setting.key, setting.given);
    };
    set("training.precision", precision);
    set("training.fp32_gradient_accumulation", keeps_fp32 ? "true" : "false");
    set("training.reduce_precision", keeps_fp32 ? "FP32" : precision);
    if (type == "fp16") {
      // torch.amp.GradScaler's, which the scenario's other defaults are.
      set("training.loss_scale", "1");
      set("training.dynamic_loss_scale.initial", "65536");
    }
    setting.effect = Effect::modelled;
    setting.meaning = "training.precision: " + precision;
    if (keeps_fp32) setting.meaning += ", with gradients kept and summed in fp32 (autocast)";
    if (setting.value.empty()) setting.value = "no";
  }

  void read_fsdp() {
    ConfigBlock fsdp(top_.block("fsdp_config"), kFsdp, accelerate_fsdp_keys(), UnknownKeys::ignored,
                     keep_default, reading_);
    const int version = static_cast<int>(fsdp.whole("version").value_or(1));
    if (version == 2) {
      read_version2(fsdp);
    } else {
      read_version1(fsdp);
    }
    read_parallelism(version == 2);
    read_fsdp_switches(fsdp, version);
    fsdp.report(version, "version", reading_);
  }

  void read_version1(ConfigBlock& fsdp) {
    Setting& sharding = fsdp.setting("sharding_strategy");
    const ShardingStrategy* chosen = find_sharding(fsdp.text("sharding_strategy"));
    if (chosen == nullptr) return;
    set_sharding(*chosen, sharding);
    Setting& reshard = fsdp.setting("reshard_after_forward");
    if (reshard.given == nullptr) return;
    // The launcher always sets the strategy, so that version 1 never looks at this one.
    if (find_sharding(lower(reshard.given->text)) != chosen) {
      reading_.conflict(reshard.given->position, reshard.key,
                        value_text(*reshard.given) +
                            " is not looked at by version 1, whose fsdp_sharding_strategy is " +
                            sharding.value,
                        "the strategy as fsdp_sharding_strategy, or fsdp_version: 2");
    }
    reshard.effect = Effect::none;
    reshard.meaning = "version 1 looks at fsdp_sharding_strategy, which says the same";
  }

  void set_sharding(const ShardingStrategy& chosen, Setting& sharding) {
    config().strategy = chosen.strategy;
    sharding.meaning = config().strategy;
    if (chosen.strategy != "FSDP_HYBRID_SHARD") return;
    if (chosen.keeps_parameters) {
      reading_.override_field("options.reshard_after_forward", "false", sharding.key,
                              sharding.given);
      sharding.meaning += ", keeping parameters from forward to backward";
    }
    if (config().processes && config().machines && *config().processes >= *config().machines) {
      reading_.override_field("options.shard_group_size",
                              std::to_string(*config().processes / *config().machines),
                              sharding.key, sharding.given);
      sharding.meaning += ", a copy per machine";
    }
  }

  void read_version2(ConfigBlock& fsdp) {
    Setting& reshard = fsdp.setting("reshard_after_forward");
    const std::string text = reshard.given == nullptr ? "true" : lower(value_text(*reshard.given));
    const bool keeps = text == "false" || text == "\"false\"";
    if (!keeps && text != "true" && text != "\"true\"") {
      const ShardingStrategy* meant = find_sharding(lower(reshard.given->text));
      const bool is_kept = meant != nullptr && meant->name.find("_shard") == std::string_view::npos;
      reading_.fault(reshard.given->position, reshard.key,
                     value_text(*reshard.given) + " is not allowed by version 2", "true or false",
                     meant == nullptr ? "" : (is_kept ? "false" : "true"));
      return;
    }
    config().strategy = keeps ? "FSDP_SHARD_GRAD_OP" : "FSDP_FULL_SHARD";
    reshard.value = keeps ? "false" : "true";
    reshard.meaning = config().strategy;
  }

  // Groups of shards and copies of them, by version 2 alone.
  void read_parallelism(bool is_version2) {
    const ConfigValue* block = top_.block("parallelism_config");
    if (block == nullptr || block->members.empty()) return;
    if (!is_version2) {
      reading_.conflict(block->position, "parallelism_config",
                        "is allowed by Accelerate with FSDP's version 2 alone",
                        "distributed_type: FSDP with fsdp_version: 2");
      return;
    }
    ConfigBlock sizes(block, "parallelism_config.", accelerate_parallelism_keys(),
                      UnknownKeys::ignored, keep_default, reading_);
    const std::uint64_t copies = sizes.whole("dp_replicate_size").value_or(1);
    const std::uint64_t shards = sizes.whole("dp_shard_size").value_or(1);
    const std::uint64_t others = sizes.whole("tp_size").value_or(1) *
                                 sizes.whole("cp_size").value_or(1) *
                                 sizes.whole("sp_size").value_or(1);
    const auto processes = static_cast<std::uint64_t>(config().processes.value_or(0));
    if (others == 1 && processes > 0 && copies * shards != processes) {
      reading_.conflict(block->position, "parallelism_config",
                        std::to_string(copies) + " copies x " + std::to_string(shards) +
                            " shards = " + std::to_string(copies * shards) + " are not the " +
                            std::to_string(processes) + " processes",
                        "dp_replicate_size x dp_shard_size = num_processes");
    }
    if (copies > 1) read_copies(sizes, shards);
    sizes.report(reading_);
  }

  void read_copies(ConfigBlock& sizes, std::uint64_t shards) {
    const Setting& setting = sizes.setting("dp_replicate_size");
    if (shards == 1) {
      reading_.conflict(setting.given->position, setting.key,
                        "copies of what is not sharded are refused by Accelerate",
                        "distributed_type: MULTI_GPU, or dp_shard_size above 1");
      return;
    }
    const bool keeps = config().strategy == "FSDP_SHARD_GRAD_OP";
    config().strategy = "FSDP_HYBRID_SHARD";
    reading_.override_field("options.shard_group_size", std::to_string(shards), setting.key,
                            setting.given);
    if (keeps) {
      reading_.override_field("options.reshard_after_forward", "false", setting.key, setting.given);
    }
  }

  void read_fsdp_switches(ConfigBlock& fsdp, int version) {
    if (fsdp.boolean("offload_params")) {
      config().parameter_offload = Offload::cpu;
      config().optimizer_offload = Offload::cpu;
      fsdp.setting("offload_params").effect = Effect::not_modelled;
      fsdp.setting("offload_params").meaning =
          "the optimizer is on the CPU; shards of parameters stay on the device";
    }
    config().full_recomputation = fsdp.boolean("activation_checkpointing");
    Setting& prefetch = fsdp.setting("backward_prefetch");
    const std::string when = fsdp.text("backward_prefetch");
    prefetch.meaning = "the next unit is gathered before this one's gradients are computed";
    if (version == 1 && when != "backward_pre" && when != "1") {
      prefetch.effect = Effect::not_modelled;
      prefetch.meaning =
          "simulated as BACKWARD_PRE: the same bytes, more overlap, a unit more held";
    }
    Setting& wrap = fsdp.setting("auto_wrap_policy");
    if (wrap.given == nullptr || fsdp.text("auto_wrap_policy") == "no_wrap") {
      wrap.meaning =
          "the whole model is one unit: more is held at once than here, where each linear "
          "layer is one";
    }
    if (wrap.given == nullptr) add_default_wrap(wrap);
    if (fsdp.text("auto_wrap_policy") != "size_based_wrap") {
      fsdp.setting("min_num_params").effect = Effect::none;
      fsdp.setting("min_num_params").meaning = "of SIZE_BASED_WRAP, which is not used";
    }
    const Setting& sync = fsdp.setting("sync_module_states");
    if (fsdp.boolean("cpu_ram_efficient_loading") && sync.value == "false") {
      reading_.conflict(sync.given->position, sync.key,
                        "is false with fsdp_cpu_ram_efficient_loading, which needs it", "true");
    }
  }

  void add_default_wrap(const Setting& wrap) {
    reading_.add_item(nullptr, {.key = wrap.key,
                                .value = "NO_WRAP",
                                .origin = Origin::by_default,
                                .effect = Effect::not_modelled,
                                .meaning = wrap.meaning});
  }

  void read_deepspeed() {
    ConfigBlock block(top_.block("deepspeed_config"), kDeepSpeed, accelerate_deepspeed_keys(),
                      UnknownKeys::ignored, keep_default, reading_);
    if (block.is_given("deepspeed_config_file") &&
        !block.setting("deepspeed_config_file").value.empty()) {
      read_deepspeed_file(block);
    } else {
      read_inline(block);
    }
  }

  // Accelerate refuses what the file decides (DeepSpeedPlugin._deepspeed_config_checks).
  void read_deepspeed_file(ConfigBlock& block) {
    for (const char* key :
         {"zero_stage", "gradient_accumulation_steps", "gradient_clipping",
          "offload_optimizer_device", "offload_param_device", "offload_optimizer_nvme_path",
          "offload_param_nvme_path", "zero3_save_16bit_model"}) {
      refuse_beside_file(block.setting(key));
    }
    refuse_beside_file(top_.setting("mixed_precision"));
    const Setting& setting = block.setting("deepspeed_config_file");
    const std::filesystem::path named(setting.value);
    const std::filesystem::path found = path_.parent_path() / named;
    std::error_code error;
    if (!std::filesystem::exists(found, error)) {
      reading_.fault(
          setting.given->position, setting.key, value_text(*setting.given) + " is not there",
          named.is_absolute() ? "a path on this machine; the absolute one may be of another"
                              : "a path relative to the folder of " + path_.filename().string());
      return;
    }
    ConfigContext context = context_;
    context.ranks = ranks();
    const std::optional<ConfigFile> file = read_config_file(found, faults_);
    if (file) {
      if (auto inner = read_deepspeed_config(*file, context, faults_)) take(std::move(*inner));
    }
    block.report(reading_);
  }

  void refuse_beside_file(Setting& setting) {
    setting.value.clear();  // Nor does the default hold.
    if (setting.given == nullptr) return;
    reading_.conflict(setting.given->position, setting.key,
                      "is refused by Accelerate beside deepspeed_config_file",
                      "the same in that file");
  }

  // The configuration that Accelerate makes of its own keys (DeepSpeedPlugin.__post_init__).
  void read_inline(ConfigBlock& block) {
    const auto place = [&](const char* key) {
      const ConfigValue* given = block.setting(key).given;
      return given == nullptr ? Position{} : given->position;
    };
    const auto number = [&](const char* key) {
      return number_value(block.setting(key).value, block.number(key).value_or(0), place(key));
    };
    const auto device = [&](const char* key) {
      return block_of({{.key = "device", .value = text_value(block.text(key), place(key))}},
                      place(key));
    };
    std::vector<ConfigMember> members = {
        {.key = "train_micro_batch_size_per_gpu", .value = text_value("auto", {})},
        {.key = "gradient_accumulation_steps", .value = number("gradient_accumulation_steps")},
        {.key = "zero_optimization",
         .value =
             block_of({{.key = "stage", .value = number("zero_stage")},
                       {.key = "offload_optimizer", .value = device("offload_optimizer_device")},
                       {.key = "offload_param", .value = device("offload_param_device")}},
                      place("zero_stage"))}};
    if (block.number("gradient_clipping").value_or(0) > 0) {
      members.push_back({.key = "gradient_clipping", .value = number("gradient_clipping")});
    }
    Setting& precision = top_.setting("mixed_precision");
    const std::string type = top_.text("mixed_precision");
    if (type == "fp8") {
      reading_.fault(precision.given->position, precision.key, "fp8 is not modelled",
                     "one of no, fp16, bf16");
    }
    if (type == "fp16" || type == "bf16") {
      const Position position = precision.given->position;
      members.push_back(
          {.key = type,
           .value = block_of({{.key = "enabled", .value = true_value(position)}}, position)});
    }
    precision.meaning = "training.precision";
    if (reading_.has_faults()) return;
    ConfigContext context = context_;
    context.ranks = ranks();
    ConfigReading inner(reading_.path(), faults_);
    read_deepspeed_settings(block_of(std::move(members), {}), context, inner);
    std::optional<FrameworkConfig> made = inner.finish();
    if (!made) return;
    std::erase_if(made->items, [](const ConfigItem& item) { return item.origin == Origin::given; });
    take(std::move(*made));
    block.setting("zero_stage").meaning = config().strategy;
    block.report(reading_);
  }

  // DeepSpeed's part of the plan.
  void take(FrameworkConfig made) {
    made.processes = config().processes;
    made.machines = config().machines;
    config() = std::move(made);
  }

  const std::filesystem::path& path_;
  const ConfigContext& context_;
  ConfigReading& reading_;
  std::vector<Fault>& faults_;
  ConfigBlock top_;
};

}  // namespace

std::optional<FrameworkConfig> read_accelerate_config(const ConfigFile& config,
                                                      const ConfigContext& context,
                                                      std::vector<Fault>& faults) {
  const std::string name = config.path.string();
  const std::optional<ConfigValue> file = parse_yaml_config(config.text, name, faults);
  if (!file) return std::nullopt;
  if (refuse_other_dialect(*file, ConfigFormat::accelerate, name, faults)) return std::nullopt;
  ConfigReading reading(name, faults);
  Reader(*file, config.path, context, reading, faults).read();
  return reading.finish();
}

}  // namespace shardscope
