#include "sim/frameworks/deepspeed_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/frameworks/batch.h"
#include "sim/frameworks/deepspeed_keys.h"
#include "sim/frameworks/deepspeed_zero.h"

namespace shardscope {
namespace {

// The value of the key in a block that may be missing.
const ConfigValue* find(const ConfigValue* block, std::string_view key) {
  return block == nullptr || block->kind != ConfigValue::Kind::object ? nullptr : block->find(key);
}

bool is_auto(const ConfigValue* value) {
  return value != nullptr && value->kind == ConfigValue::Kind::text && value->text == "auto";
}

bool is_true(const ConfigValue* value) {
  return value != nullptr && value->kind == ConfigValue::Kind::boolean && value->boolean;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// The scenario's name of a torch or DeepSpeed type.
std::string precision_of(const std::string& type) {
  if (type.ends_with("bf16") || type.ends_with("bfloat16")) return "BF16";
  if (type.ends_with("fp32") || type.ends_with("float32") || type == "float") return "FP32";
  return "FP16";
}

class Reader {
 public:
  Reader(const ConfigValue& file, const ConfigContext& context, ConfigReading& reading)
      : file_(file),
        context_(context),
        reading_(reading),
        resolve_([this](const Setting& setting) { return resolve(setting); }),
        top_(&file, "", deepspeed_keys(), UnknownKeys::ignored, resolve_, reading) {}

  void read() {
    stage_ = read_deepspeed_zero(top_, context_.zero_stage, resolve_, reading_);
    read_precision();
    read_optimizer();
    read_data_types();
    read_batch();
    read_switch("amp");
    read_switch("torch_autocast");
    read_switch("elasticity");
    read_switch("expert_parallel");
    read_small_blocks();
    top_.report(stage_, "stage", reading_);
  }

 private:
  // Accelerate's rules (Accelerator._prepare_deepspeed at 16cb6eb8).
  std::optional<std::string> resolve(const Setting& setting) {
    const std::string_view key = setting.rule->key;
    if (key == "gradient_clipping") return "1.0";
    if (key == "enabled") return resolve_enabled(setting.key.starts_with("fp16"));
    const bool is_prefetch = key == "prefetch_bucket_size";
    const bool is_threshold = key == "param_persistence_threshold";
    if (key != "reduce_bucket_size" && !is_prefetch && !is_threshold) return std::nullopt;
    if (!context_.hidden_size) {
      reading_.fault(setting.given->position, setting.key,
                     "\"auto\" follows from the model's hidden size, which is not known",
                     "a whole number, or a hidden size");
      return std::nullopt;
    }
    const auto hidden = static_cast<double>(*context_.hidden_size);
    const double size = is_threshold ? 10 * hidden : (is_prefetch ? 0.9 : 1.0) * hidden * hidden;
    return std::to_string(static_cast<std::uint64_t>(std::min(size, 1e13)));
  }

  // The flag of the program that loads the file decides. Of two that are open it is bf16's, and a
  // file with a single one asks for that.
  std::string resolve_enabled(bool is_fp16) const {
    const ConfigValue* fp16 = find(file_.find("fp16"), "enabled");
    const ConfigValue* bf16 = find(bf16_block(), "enabled");
    const bool other_is_on = is_fp16 ? is_true(bf16) || is_auto(bf16) : is_true(fp16);
    return other_is_on ? "false" : "true";
  }

  const ConfigValue* bf16_block() const {
    const ConfigValue* block = file_.find("bf16");
    return block == nullptr ? file_.find("bfloat16") : block;
  }

  void read_precision() {
    ConfigBlock fp16(top_.block("fp16"), "fp16.", deepspeed_fp16_keys(), UnknownKeys::refused,
                     resolve_, reading_);
    ConfigBlock bf16(top_.block("bf16"), "bf16.", deepspeed_bf16_keys(), UnknownKeys::refused,
                     resolve_, reading_);
    if (fp16.boolean("enabled") && bf16.boolean("enabled")) {
      reading_.conflict(bf16.setting("enabled").given->position, "bf16.enabled",
                        "is true, and fp16.enabled is too", "one of the two");
    }
    const bool is_fp16 = fp16.boolean("enabled");
    precision_ = is_fp16 ? "FP16" : bf16.boolean("enabled") ? "BF16" : "FP32";
    const Setting& source = (is_fp16 ? fp16 : bf16).setting("enabled");
    reading_.override_field("training.precision", precision_, source.key, source.given);
    read_loss_scale(fp16, is_fp16);
    for (ConfigBlock* block : {&fp16, &bf16}) {
      if (!block->boolean("enabled")) block->setting("enabled").meaning = "off";
    }
    if (is_fp16 || top_.is_given("fp16")) fp16.report(reading_);
    if (precision_ == "BF16" || top_.is_given("bf16")) bf16.report(reading_);
  }

  void read_loss_scale(ConfigBlock& fp16, bool is_on) {
    const bool is_static = fp16.number("loss_scale").value_or(0) > 0;
    for (const char* key :
         {"initial_scale_power", "loss_scale_window", "hysteresis", "min_loss_scale"}) {
      if (is_on && !is_static) continue;
      fp16.setting(key).effect = Effect::none;
      fp16.setting(key).meaning =
          is_on ? "of a dynamic loss scale; this one is static" : "of fp16, which is off";
    }
    if (!is_on) {
      fp16.setting("loss_scale").effect = Effect::none;
      fp16.setting("loss_scale").meaning = "of fp16, which is off";
      return;
    }
    const auto set = [&](const char* field, const char* key, const std::string& value) {
      const Setting& setting = fp16.setting(key);
      if (setting.value.empty()) return;
      reading_.override_field(std::string("training.") + field, value, setting.key, setting.given);
    };
    if (is_static) {
      set("loss_scale", "loss_scale", fp16.setting("loss_scale").value);
      return;
    }
    const double initial =
        std::ldexp(1.0, static_cast<int>(fp16.whole("initial_scale_power").value_or(16)));
    const Setting& minimum = fp16.setting("min_loss_scale");
    const double least = fp16.number("min_loss_scale").value_or(1);
    if (least > initial || least == 0) {
      reading_.conflict(minimum.given == nullptr ? Position{} : minimum.given->position,
                        minimum.key,
                        minimum.value + " is no least scale of a dynamic one that begins at 2^" +
                            fp16.setting("initial_scale_power").value,
                        "above 0, at most the first scale");
    }
    set("loss_scale", "loss_scale", "1");
    set("dynamic_loss_scale.initial", "initial_scale_power", number_text(initial));
    set("dynamic_loss_scale.growth_interval", "loss_scale_window",
        fp16.setting("loss_scale_window").value);
    set("dynamic_loss_scale.hysteresis", "hysteresis", fp16.setting("hysteresis").value);
    set("dynamic_loss_scale.minimum", "min_loss_scale", minimum.value);
  }

  void read_optimizer() {
    if (!top_.is_given("optimizer")) return;
    ConfigBlock optimizer(top_.block("optimizer"), "optimizer.", deepspeed_optimizer_keys(),
                          UnknownKeys::ignored, resolve_, reading_);
    Setting& type = optimizer.setting("type");
    const std::string name = optimizer.text("type");
    if (!type.value.empty() && name != "adam" && name != "adamw" && name != "lamb") {
      reading_.fault(
          type.given->position, type.key,
          value_text(*type.given) + ": states and traffic that are not Adam's are not modelled",
          "one of Adam, AdamW, Lamb");
      return;
    }
    ConfigBlock params(optimizer.block("params"), "optimizer.params.", deepspeed_adam_keys(),
                       UnknownKeys::refused, resolve_, reading_);
    set_optimizer(type, name, params);
    read_betas(params.setting("betas"));
    optimizer.report(reading_);
    if (optimizer.block("params") != nullptr) params.report(reading_);
  }

  void set_optimizer(Setting& type, const std::string& name, ConfigBlock& params) {
    if (name.empty()) return;
    // Adam is AdamW unless adam_w_mode is off.
    const bool decouples = name == "adamw" || (name == "adam" && params.boolean("adam_w_mode"));
    const std::string here = decouples ? "ADAMW" : "ADAM";
    type.meaning = here;
    if (name == "lamb") {
      type.meaning +=
          ": Lamb holds the same states; its trust ratio, an update scaled by norms per tensor, is "
          "left aside";
      params.setting("adam_w_mode").value.clear();
    } else if (name == "adam" && decouples) {
      type.meaning += ": DeepSpeed's Adam decouples weight decay unless adam_w_mode is false";
    }
    reading_.override_field("training.optimizer.name", here, type.key, type.given);
  }

  void read_betas(const Setting& betas) {
    if (betas.given == nullptr || betas.origin == Origin::resolved) return;
    const std::vector<ConfigValue>& values = betas.given->elements;
    const bool is_pair =
        values.size() == 2 && std::all_of(values.begin(), values.end(), [](const ConfigValue& v) {
          return v.kind == ConfigValue::Kind::number && v.number >= 0 && v.number < 1;
        });
    if (!is_pair) {
      reading_.fault(betas.given->position, betas.key, value_text(*betas.given) + " is not allowed",
                     "two numbers from 0 to below 1: [0.9, 0.999]");
      return;
    }
    reading_.override_field("training.optimizer.beta1", values[0].text, betas.key, betas.given);
    reading_.override_field("training.optimizer.beta2", values[1].text, betas.key, betas.given);
  }

  void read_data_types() {
    ConfigBlock types(top_.block("data_types"), "data_types.", deepspeed_data_type_keys(),
                      UnknownKeys::ignored, resolve_, reading_);
    Setting& parameters = types.setting("param_dtype");
    if (!parameters.value.empty() && precision_of(parameters.value) != precision_) {
      reading_.conflict(parameters.given->position, parameters.key,
                        value_text(*parameters.given) + " is not the precision, " + precision_,
                        "the type that fp16 or bf16 switches on");
    }
    const Setting& accumulated = types.setting("grad_accum_dtype");
    const bool is_set = !accumulated.value.empty();
    const std::string type = is_set ? precision_of(accumulated.value) : precision_;
    if (type != precision_ && (type != "FP32" || stage_ == 0)) {
      reading_.conflict(accumulated.given->position, accumulated.key,
                        value_text(*accumulated.given) + " with " + precision_ + " at stage " +
                            std::to_string(stage_) +
                            " is not modelled, and DeepSpeed refuses it "
                            "without ZeRO",
                        "fp32 at stages 1 to 3, or " + precision_);
    }
    const bool accumulates_fp32 = is_set && type == "FP32" && precision_ != "FP32";
    reading_.override_field("training.fp32_gradient_accumulation",
                            accumulates_fp32 ? "true" : "false", accumulated.key,
                            accumulated.given);
    if (!is_set)
      reading_.config.fields_of_precision.emplace_back("training.fp32_gradient_accumulation");
    set_reduce_precision(accumulates_fp32);
    if (top_.is_given("data_types")) types.report(reading_);
  }

  // Gradients travel in the parameters' type unless communication_data_type says otherwise; stage 1
  // with bf16 and fp32 accumulation reduces what it accumulated.
  void set_reduce_precision(bool accumulates_fp32) {
    Setting& type = top_.setting("communication_data_type");
    if (!type.value.empty()) {
      type.value = precision_of(type.value);
      return;
    }
    const bool reduces_fp32 = accumulates_fp32 && stage_ == 1 && precision_ == "BF16" &&
                              reading_.config.optimizer_offload == Offload::none;
    type.value = reduces_fp32 ? "FP32" : precision_;
    reading_.config.fields_of_precision.emplace_back("training.reduce_precision");
    if (type.given == nullptr) type.meaning = "the type of parameters, or of gradients as kept";
  }

  void read_batch() {
    const Setting& train = top_.setting("train_batch_size");
    Setting& micro = top_.setting("train_micro_batch_size_per_gpu");
    GivenBatch given = {.train = top_.whole("train_batch_size"),
                        .micro = top_.whole("train_micro_batch_size_per_gpu"),
                        .accumulation = top_.whole("gradient_accumulation_steps"),
                        .position = train.given == nullptr ? Position{} : train.given->position};
    const bool is_open = micro.origin != Origin::given &&
                         (!given.train || (micro.given != nullptr && !given.accumulation));
    if (is_open && context_.micro_batch) {
      given.micro = *context_.micro_batch;
      micro.value = std::to_string(*context_.micro_batch);
    }
    work_out_batch(given, static_cast<std::uint64_t>(std::max(context_.ranks, 0)), reading_);
    const FrameworkConfig& config = reading_.config;
    show("train_batch_size", config.train_batch, !given.train,
         "train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks");
    show("train_micro_batch_size_per_gpu", config.micro_batch, !given.micro,
         "train_batch_size / (gradient_accumulation_steps x ranks)");
    show("gradient_accumulation_steps", config.accumulation,
         given.train && given.micro && !given.accumulation,
         "train_batch_size / (train_micro_batch_size_per_gpu x ranks)");
  }

  // What is not in the file: one of the three follows from the others.
  void show(const char* key, std::optional<std::uint64_t> value, bool is_derived,
            const char* equation) {
    Setting& setting = top_.setting(key);
    if (setting.origin == Origin::given) return;
    setting.value = value ? std::to_string(*value) : "";
    if (!value) {
      setting.meaning = "left open: the scenario's";
    } else if (is_derived) {
      setting.value = equation;
      setting.origin = Origin::derived;
    }
  }

  // A block whose `enabled` is not modelled.
  void read_switch(const char* key) {
    const ConfigValue* block = top_.block(key);
    const ConfigValue* enabled = find(block, "enabled");
    if (is_true(enabled)) {
      reading_.fault(enabled->position, std::string(key) + ".enabled", "true: is not modelled",
                     "false");
    }
    if (block != nullptr) {
      reading_.add_item(block, {.key = key,
                                .value = value_text(*block),
                                .origin = Origin::given,
                                .effect = Effect::none,
                                .meaning = "is off"});
    }
  }

  void read_small_blocks() {
    const auto read_block = [&](const char* key, const KeyTable& table) {
      ConfigBlock block(top_.block(key), std::string(key) + ".", table, UnknownKeys::ignored,
                        resolve_, reading_);
      if (top_.is_given(key)) block.report(reading_);
    };
    read_block("activation_checkpointing", deepspeed_activation_checkpointing_keys());
    read_block("tensor_parallel", deepspeed_tensor_parallel_keys());
    ConfigBlock compile(top_.block("compile"), "compile.", deepspeed_compile_keys(),
                        UnknownKeys::ignored, resolve_, reading_);
    if (compile.boolean("deepcompile")) {
      const Setting& setting = compile.setting("deepcompile");
      if (stage_ == 3) {
        reading_.fault(setting.given->position, setting.key,
                       "true: the schedule that DeepCompile makes of stage 3 is not modelled",
                       "false");
      }
      compile.setting("deepcompile").effect = Effect::not_modelled;
    }
    if (top_.is_given("compile")) compile.report(reading_);
  }

  const ConfigValue& file_;
  const ConfigContext& context_;
  ConfigReading& reading_;
  ResolveAuto resolve_;
  ConfigBlock top_;
  int stage_ = 0;
  std::string precision_ = "FP32";
};

}  // namespace

void read_deepspeed_settings(const ConfigValue& file, const ConfigContext& context,
                             ConfigReading& reading) {
  Reader(file, context, reading).read();
}

}  // namespace shardscope
