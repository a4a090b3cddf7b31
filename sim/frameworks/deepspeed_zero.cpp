#include "sim/frameworks/deepspeed_zero.h"

#include "sim/frameworks/config_value.h"
#include "sim/frameworks/deepspeed_keys.h"

namespace shardscope {
namespace {

constexpr const char* kParametersStay =
    "shards of parameters stay on the device: 2 bytes each more there, no transfers before gathers";

class ZeroReader {
 public:
  ZeroReader(ConfigBlock& top, std::optional<int> instead, const ResolveAuto& resolve,
             ConfigReading& reading)
      : top_(top), instead_(instead), resolve_(resolve), reading_(reading) {}

  int read() {
    const ConfigValue* value = top_.setting("zero_optimization").given;
    if (value != nullptr && value->kind == ConfigValue::Kind::boolean) {
      read_deprecated(*value);
      return stage_;
    }
    if (value != nullptr && value->kind != ConfigValue::Kind::object) {
      reading_.fault(value->position, "zero_optimization", value_text(*value) + " is not allowed",
                     "a block of keys; true or false, which are deprecated");
    }
    read_block(value);
    return stage_;
  }

 private:
  // zero_optimization: true | false.
  void read_deprecated(const ConfigValue& value) {
    ConfigValue stage;
    stage.kind = ConfigValue::Kind::number;
    stage.number = value.boolean ? 1 : 0;
    stage.text = value.boolean ? "1" : "0";
    stage.position = value.position;
    ConfigValue block;
    block.kind = ConfigValue::Kind::object;
    block.position = value.position;
    block.members.push_back({.key = "stage", .value = stage});
    reading_.add_item(&value, {.key = "zero_optimization",
                               .value = value_text(value),
                               .origin = Origin::given,
                               .effect = Effect::modelled,
                               .meaning = "deprecated: stage " + stage.text});
    read_block(&block);
  }

  void read_block(const ConfigValue* value) {
    ConfigBlock zero(value, "zero_optimization.", deepspeed_zero_keys(), UnknownKeys::refused,
                     resolve_, reading_);
    stage_ = instead_.value_or(static_cast<int>(zero.whole("stage").value_or(0)));
    reading_.config.strategy = "DEEPSPEED_STAGE" + std::to_string(stage_);
    zero.setting("stage").meaning = reading_.config.strategy;
    set_overlap(zero.setting("overlap_comm"));
    set_sizes(zero);
    refuse_other_algorithms(zero);
    reading_.config.optimizer_offload = read_offload(
        zero, "offload_optimizer", "cpu_offload", deepspeed_offload_optimizer_keys(), stage_ >= 1);
    reading_.config.parameter_offload = read_offload(zero, "offload_param", "cpu_offload_param",
                                                     deepspeed_offload_param_keys(), stage_ == 3);
    zero.report(stage_, "stage", reading_);
  }

  void set_overlap(Setting& overlap) const {
    if (overlap.value.empty()) overlap.value = stage_ == 3 ? "true" : "false";
  }

  // Zero sizes that the scenario has no words for.
  static void set_sizes(ConfigBlock& zero) {
    Setting& bucket = zero.setting("reduce_bucket_size");
    if (bucket.value == "0") {
      bucket.value = "1";
      bucket.meaning = "every tensor is a bucket by itself";
    }
    Setting& group = zero.setting("sub_group_size");
    if (group.value == "0") {
      group.effect = Effect::not_modelled;
      group.meaning = "each tensor updated by itself; the scenario's sub_group_size holds";
    }
    Setting& limit = zero.setting("model_persistence_threshold");
    Setting& threshold = zero.setting("param_persistence_threshold");
    if (limit.value == "0") {
      threshold.value = "0";
      limit.effect = Effect::modelled;
      limit.meaning = "no tensor stays whole: options.persistence_threshold";
    } else if (threshold.value == "0") {
      limit.effect = Effect::none;
      limit.meaning = "no tensor stays whole anyway";
    }
  }

  void refuse_other_algorithms(ConfigBlock& zero) {
    const auto refuse = [&](const char* key, const char* why, const char* allowed) {
      const Setting& setting = zero.setting(key);
      reading_.fault(setting.given->position, setting.key, value_text(*setting.given) + ": " + why,
                     allowed);
    };
    const bool scatters = stage_ != 1 && stage_ != 2 ? false : zero.boolean("reduce_scatter");
    if (scatters && zero.setting("use_multi_rank_bucket_allreduce").value == "false") {
      refuse("use_multi_rank_bucket_allreduce",
             "a reduce to each owner is not modelled; ZERO1 and ZERO2 reduce-scatter", "true");
    }
    if (stage_ != 3) return;
    if (zero.whole("zero_hpz_partition_size").value_or(1) > 1) {
      refuse("zero_hpz_partition_size", "ZeRO++'s secondary partition is not modelled", "1");
    }
    if (zero.is_given("mics_shard_size") && zero.number("mics_shard_size").value_or(-1) > 0) {
      refuse("mics_shard_size",
             "MiCS is not modelled; FSDP_HYBRID_SHARD with options.shard_group_size and "
             "reduce_across: BOUNDARY is near it",
             "-1");
    }
    if (zero.boolean("use_all_reduce_for_fetch_params")) {
      refuse("use_all_reduce_for_fetch_params",
             "parameters gathered by all_reduce are not modelled", "false");
    }
  }

  // The device of an offload block, or of the deprecated switch instead.
  Offload read_offload(ConfigBlock& zero, const char* key, const char* deprecated,
                       const KeyTable& table, bool has_effect) {
    const std::string name = "zero_optimization." + std::string(key);
    const Setting& old = zero.setting(deprecated);
    if (zero.block(key) == nullptr) {
      const bool is_on_cpu = has_effect && zero.boolean(deprecated);
      if (is_on_cpu && std::string_view(key) == "offload_param") {
        zero.setting(deprecated).effect = Effect::not_modelled;
        zero.setting(deprecated).meaning = kParametersStay;
      }
      return is_on_cpu ? Offload::cpu : Offload::none;
    }
    if (old.given != nullptr) {
      reading_.conflict(old.given->position, old.key, "is deprecated, and " + name + " is given",
                        "one of the two");
    }
    ConfigBlock offload(zero.block(key), name + ".", table, UnknownKeys::refused, resolve_,
                        reading_);
    const std::string device = offload.text("device");
    if (has_effect && device == "nvme") {
      reading_.fault(offload.setting("device").given->position, name + ".device",
                     "offload to NVMe is not modelled", "one of none, cpu");
    }
    if (has_effect && device == "cpu" && name == "zero_optimization.offload_param") {
      offload.setting("device").effect = Effect::not_modelled;
      offload.setting("device").meaning = kParametersStay;
    }
    offload.report(stage_, "stage", reading_);
    return has_effect && device == "cpu" ? Offload::cpu : Offload::none;
  }

  ConfigBlock& top_;
  std::optional<int> instead_;
  const ResolveAuto& resolve_;
  ConfigReading& reading_;
  int stage_ = 0;
};

}  // namespace

int read_deepspeed_zero(ConfigBlock& top, std::optional<int> instead, const ResolveAuto& resolve,
                        ConfigReading& reading) {
  return ZeroReader(top, instead, resolve, reading).read();
}

}  // namespace shardscope
