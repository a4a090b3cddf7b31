#include <algorithm>

#include "sim/frameworks/accelerate_deepspeed.h"
#include "sim/frameworks/accelerate_fsdp.h"
#include "sim/frameworks/accelerate_keys.h"
#include "sim/frameworks/config_value.h"
#include "sim/frameworks/dialects.h"
#include "sim/frameworks/framework_config.h"
#include "sim/text/nearest_name.h"

namespace shardscope {
namespace {

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
    const std::string written = setting.given == nullptr ? "" : lower_case(setting.given->text);
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
      ConfigContext context = context_;
      context.ranks = ranks();
      read_accelerate_deepspeed(top_, path_, context, reading_, faults_);
    } else if (type.strategy == "FSDP") {
      read_accelerate_fsdp(top_, reading_);
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
    if (type.strategy != "FSDP") refuse_accelerate_parallelism(top_, reading_);
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
    config().fields_of_precision = {"training.fp32_gradient_accumulation",
                                    "training.reduce_precision"};
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
