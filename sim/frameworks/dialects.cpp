#include "sim/frameworks/dialects.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "sim/text/printable.h"

namespace shardscope {
namespace {

struct Dialect {
  std::string_view name;
  /// Keys at the top that no other format has; one is enough.
  std::vector<std::string_view> keys;
  /// The one reader that takes it.
  std::optional<ConfigFormat> format;
  std::string_view advice;
};

// In this order: axolotl's files may name a DeepSpeed file and a model's type, and all but
// Accelerate's may have `fsdp`.
const std::vector<Dialect>& dialects() {
  static const std::vector<Dialect> list = {
      {"axolotl's format",
       {"base_model", "datasets", "adapter", "sequence_len"},
       std::nullopt,
       "what axolotl hands on: the file that its `deepspeed:` names, or an Accelerate "
       "configuration "
       "with its fsdp_config"},
      {"a Hugging Face model's configuration",
       {"model_type", "architectures", "num_hidden_layers", "n_layer"},
       std::nullopt,
       "a configuration of the training; the model's goes to --hf-config"},
      {"GPT-NeoX's format",
       {"pipe_parallel_size", "pipe-parallel-size", "model_parallel_size", "model-parallel-size",
        "num_layers", "num-layers", "pos_emb", "pos-emb"},
       std::nullopt,
       "for --deepspeed a file of its keys that are DeepSpeed's, such as optimizer, "
       "zero_optimization, fp16 and train_micro_batch_size_per_gpu; pipeline and model parallelism "
       "are not modelled"},
      {"the format of Hugging Face TrainingArguments",
       {"fsdp", "per_device_train_batch_size", "output_dir"},
       std::nullopt,
       "an Accelerate configuration: distributed_type: FSDP and an fsdp_config, whose keys begin "
       "with fsdp_"},
      {"Accelerate's format",
       {"distributed_type", "compute_environment"},
       ConfigFormat::accelerate,
       "a DeepSpeed configuration, or this file read as Accelerate's"},
      {"DeepSpeed's format",
       {"zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu"},
       ConfigFormat::deepspeed,
       "an Accelerate configuration, or this file read as DeepSpeed's"},
  };
  return list;
}

bool refuse(ConfigFormat expected, const std::string& path, std::vector<Fault>& faults,
            const std::function<std::optional<Position>(std::string_view key)>& find) {
  for (const Dialect& dialect : dialects()) {
    for (const std::string_view key : dialect.keys) {
      const std::optional<Position> position = find(key);
      if (!position) continue;
      if (dialect.format == expected) return false;
      faults.push_back({.place = place_text(path, *position),
                        .field = std::string(key),
                        .problem = "is a key of " + std::string(dialect.name),
                        .allowed = std::string(dialect.advice),
                        .nearest = {}});
      return true;
    }
  }
  return false;
}

}  // namespace

bool refuse_other_dialect(const ConfigValue& file, ConfigFormat expected, const std::string& path,
                          std::vector<Fault>& faults) {
  return refuse(expected, path, faults, [&](std::string_view key) -> std::optional<Position> {
    const ConfigValue* value = file.find(key);
    return value == nullptr ? std::nullopt : std::optional(value->position);
  });
}

bool refuse_other_dialect(std::string_view text, ConfigFormat expected, const std::string& path,
                          std::vector<Fault>& faults) {
  return refuse(expected, path, faults, [&](std::string_view key) -> std::optional<Position> {
    const std::string quoted_key = "\"" + std::string(key) + "\"";
    std::size_t at = text.find(quoted_key);
    if (at == std::string_view::npos) {
      at = text.find("\n" + std::string(key) + ":");
      if (at == std::string_view::npos) return std::nullopt;
      ++at;
    }
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1;
    return Position{.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
                    .column = static_cast<int>(at - line_start) + 1};
  });
}

}  // namespace shardscope
