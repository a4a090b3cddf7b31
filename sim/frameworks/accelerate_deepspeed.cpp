#include "sim/frameworks/accelerate_deepspeed.h"

#include <system_error>
#include <utility>

#include "sim/frameworks/accelerate_keys.h"
#include "sim/frameworks/config_value.h"
#include "sim/frameworks/deepspeed_settings.h"

namespace shardscope {
namespace {

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

class DeepSpeedReader {
 public:
  DeepSpeedReader(ConfigBlock& top, const std::filesystem::path& path, const ConfigContext& context,
                  ConfigReading& reading, std::vector<Fault>& faults)
      : top_(top), path_(path), context_(context), reading_(reading), faults_(faults) {}

  void read() {
    ConfigBlock block(top_.block("deepspeed_config"), "deepspeed_config.",
                      accelerate_deepspeed_keys(), UnknownKeys::ignored, keep_default, reading_);
    if (block.is_given("deepspeed_config_file") &&
        !block.setting("deepspeed_config_file").value.empty()) {
      read_deepspeed_file(block);
    } else {
      read_inline(block);
    }
  }

 private:
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
    const std::optional<ConfigFile> file = read_config_file(found, faults_);
    if (file) {
      if (auto inner = read_deepspeed_config(*file, context_, faults_)) take(std::move(*inner));
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
    ConfigReading inner(reading_.path(), faults_);
    read_deepspeed_settings(block_of(std::move(members), {}), context_, inner);
    std::optional<FrameworkConfig> made = inner.finish();
    if (!made) return;
    std::erase_if(made->items, [](const ConfigItem& item) { return item.origin == Origin::given; });
    take(std::move(*made));
    block.setting("zero_stage").meaning = reading_.config.strategy;
    block.report(reading_);
  }

  // DeepSpeed's part of the plan.
  void take(FrameworkConfig made) {
    made.processes = reading_.config.processes;
    made.machines = reading_.config.machines;
    reading_.config = std::move(made);
  }

  ConfigBlock& top_;
  const std::filesystem::path& path_;
  const ConfigContext& context_;
  ConfigReading& reading_;
  std::vector<Fault>& faults_;
};

}  // namespace

void read_accelerate_deepspeed(ConfigBlock& top, const std::filesystem::path& path,
                               const ConfigContext& context, ConfigReading& reading,
                               std::vector<Fault>& faults) {
  DeepSpeedReader(top, path, context, reading, faults).read();
}

}  // namespace shardscope
