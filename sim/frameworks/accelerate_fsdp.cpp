#include "sim/frameworks/accelerate_fsdp.h"

#include <algorithm>

#include "sim/frameworks/accelerate_keys.h"
#include "sim/frameworks/config_value.h"

namespace shardscope {
namespace {

const ShardingStrategy* find_sharding(const std::string& text) {
  const auto& all = sharding_strategies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ShardingStrategy& strategy) {
    return strategy.number == text || strategy.name == text;
  });
  return found == all.end() ? nullptr : &*found;
}

class FsdpReader {
 public:
  FsdpReader(ConfigBlock& top, ConfigReading& reading)
      : top_(top),
        reading_(reading),
        fsdp_(top.block("fsdp_config"), "fsdp_config.", accelerate_fsdp_keys(),
              UnknownKeys::ignored, keep_default, reading) {}

  void read() {
    const int version = static_cast<int>(fsdp_.whole("version").value_or(1));
    if (version == 2) {
      read_version2();
      read_parallelism();
    } else {
      read_version1();
      refuse_accelerate_parallelism(top_, reading_);
    }
    read_switches(version);
    fsdp_.report(version, "version", reading_);
  }

 private:
  void read_version1() {
    Setting& sharding = fsdp_.setting("sharding_strategy");
    const ShardingStrategy* chosen = find_sharding(fsdp_.text("sharding_strategy"));
    if (chosen == nullptr) return;
    set_sharding(*chosen, sharding);
    Setting& reshard = fsdp_.setting("reshard_after_forward");
    if (reshard.given == nullptr) return;
    // The launcher always sets the strategy, so that version 1 never looks at this one.
    if (find_sharding(lower_case(reshard.given->text)) != chosen) {
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
    reading_.config.strategy = chosen.strategy;
    sharding.meaning = reading_.config.strategy;
    if (chosen.strategy != "FSDP_HYBRID_SHARD") return;
    if (chosen.keeps_parameters) {
      reading_.override_field("options.reshard_after_forward", "false", sharding.key,
                              sharding.given);
      sharding.meaning += ", keeping parameters from forward to backward";
    }
    if (reading_.config.processes && reading_.config.machines &&
        *reading_.config.processes >= *reading_.config.machines) {
      reading_.override_field(
          "options.shard_group_size",
          std::to_string(*reading_.config.processes / *reading_.config.machines), sharding.key,
          sharding.given);
      sharding.meaning += ", a copy per machine";
    }
  }

  void read_version2() {
    Setting& reshard = fsdp_.setting("reshard_after_forward");
    const std::string text =
        reshard.given == nullptr ? "true" : lower_case(value_text(*reshard.given));
    const bool keeps = text == "false" || text == "\"false\"";
    if (!keeps && text != "true" && text != "\"true\"") {
      const ShardingStrategy* meant = find_sharding(lower_case(reshard.given->text));
      const bool is_kept = meant != nullptr && meant->name.find("_shard") == std::string_view::npos;
      reading_.fault(reshard.given->position, reshard.key,
                     value_text(*reshard.given) + " is not allowed by version 2", "true or false",
                     meant == nullptr ? "" : (is_kept ? "false" : "true"));
      return;
    }
    reading_.config.strategy = keeps ? "FSDP_SHARD_GRAD_OP" : "FSDP_FULL_SHARD";
    reshard.value = keeps ? "false" : "true";
    reshard.meaning = reading_.config.strategy;
  }

  void read_switches(int version) {
    if (fsdp_.boolean("offload_params")) {
      reading_.config.parameter_offload = Offload::cpu;
      reading_.config.optimizer_offload = Offload::cpu;
      fsdp_.setting("offload_params").effect = Effect::not_modelled;
      fsdp_.setting("offload_params").meaning =
          "the optimizer is on the CPU; shards of parameters stay on the device";
    }
    reading_.config.full_recomputation = fsdp_.boolean("activation_checkpointing");
    Setting& prefetch = fsdp_.setting("backward_prefetch");
    const std::string when = fsdp_.text("backward_prefetch");
    prefetch.meaning = "the next unit is gathered before this one's gradients are computed";
    if (version == 1 && when != "backward_pre" && when != "1") {
      prefetch.effect = Effect::not_modelled;
      prefetch.meaning =
          "simulated as BACKWARD_PRE: the same bytes, more overlap, a unit more held";
    }
    Setting& wrap = fsdp_.setting("auto_wrap_policy");
    if (wrap.given == nullptr || fsdp_.text("auto_wrap_policy") == "no_wrap") {
      wrap.meaning =
          "the whole model is one unit: more is held at once than here, where each linear "
          "layer is one";
    }
    if (wrap.given == nullptr) add_default_wrap(wrap);
    if (fsdp_.text("auto_wrap_policy") != "size_based_wrap") {
      fsdp_.setting("min_num_params").effect = Effect::none;
      fsdp_.setting("min_num_params").meaning = "of SIZE_BASED_WRAP, which is not used";
    }
    const Setting& sync = fsdp_.setting("sync_module_states");
    if (fsdp_.boolean("cpu_ram_efficient_loading") && sync.value == "false") {
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

  // Groups of shards and copies of them, by version 2 alone.
  void read_parallelism() {
    const ConfigValue* block = top_.block("parallelism_config");
    if (block == nullptr || block->members.empty()) return;
    ConfigBlock sizes(block, "parallelism_config.", accelerate_parallelism_keys(),
                      UnknownKeys::ignored, keep_default, reading_);
    const std::uint64_t copies = sizes.whole("dp_replicate_size").value_or(1);
    const std::uint64_t shards = sizes.whole("dp_shard_size").value_or(1);
    const std::uint64_t others = sizes.whole("tp_size").value_or(1) *
                                 sizes.whole("cp_size").value_or(1) *
                                 sizes.whole("sp_size").value_or(1);
    const auto processes = static_cast<std::uint64_t>(reading_.config.processes.value_or(0));
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
    const bool keeps = reading_.config.strategy == "FSDP_SHARD_GRAD_OP";
    reading_.config.strategy = "FSDP_HYBRID_SHARD";
    reading_.override_field("options.shard_group_size", std::to_string(shards), setting.key,
                            setting.given);
    if (keeps) {
      reading_.override_field("options.reshard_after_forward", "false", setting.key, setting.given);
    }
  }

  ConfigBlock& top_;
  ConfigReading& reading_;
  ConfigBlock fsdp_;
};

}  // namespace

void read_accelerate_fsdp(ConfigBlock& top, ConfigReading& reading) {
  FsdpReader(top, reading).read();
}

void refuse_accelerate_parallelism(ConfigBlock& top, ConfigReading& reading) {
  const ConfigValue* block = top.block("parallelism_config");
  if (block == nullptr || block->members.empty()) return;
  reading.conflict(block->position, "parallelism_config",
                   "is allowed by Accelerate with FSDP's version 2 alone",
                   "distributed_type: FSDP with fsdp_version: 2");
}

}  // namespace shardscope
