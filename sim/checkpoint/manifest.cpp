#include "sim/checkpoint/manifest.h"

#include <json/json.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "core/data/digest.h"
#include "sim/checkpoint/manifest_json.h"

namespace shardscope {
namespace {

Json::Value model_json(const ModelSpec& model) {
  Json::Value value;
  value["widths"] = Json::Value(Json::arrayValue);
  for (const std::size_t width : model.widths) {
    value["widths"].append(Json::UInt64{width});
  }
  value["activation"] = std::string(name(model.activation));
  value["loss"] = std::string(name(model.loss));
  return value;
}

Json::Value optimizer_json(const AdamOptions& optimizer) {
  Json::Value value;
  value["name"] = std::string(name(optimizer.variant));
  value["learning_rate"] = optimizer.learning_rate;
  value["beta1"] = optimizer.beta1;
  value["beta2"] = optimizer.beta2;
  value["epsilon"] = optimizer.epsilon;
  value["weight_decay"] = optimizer.weight_decay;
  return value;
}

Json::Value progress_json(const TrainingProgress& progress) {
  Json::Value value;
  value["steps"] = Json::Int64{progress.steps};
  value["updates"] = Json::Int64{progress.updates};
  value["next_batch"] = Json::Int64{progress.steps};
  value["loss_scale"]["scale"] = progress.loss_scale.scale;
  value["loss_scale"]["good_steps"] = Json::Int64{progress.loss_scale.good_steps};
  value["loss_scale"]["hysteresis"] = Json::Int64{progress.loss_scale.hysteresis};
  return value;
}

Json::Value file_json(std::size_t rank, const CheckpointFile& file,
                      const std::vector<ModelTensor>& tensors) {
  Json::Value value;
  value["rank"] = Json::UInt64{rank};
  value["name"] = file.name.empty() ? Json::Value() : Json::Value(file.name);
  value["bytes"] = Json::UInt64{file.bytes};
  value["checksum"] = file.name.empty() ? Json::Value() : Json::Value(file.checksum);
  value["ranges"] = Json::Value(Json::arrayValue);
  for (const TensorRange& range : file.ranges) {
    value["ranges"].append(range_name(tensors[range.tensor], range));
  }
  return value;
}

Json::Value content_json(const CheckpointManifest& manifest) {
  const CheckpointRun& run = manifest.run;
  const std::vector<ModelTensor> tensors = model_tensors(run.model);
  Json::Value value;
  value["format"] = kManifestFormat;
  value["format_version"] = kManifestVersion;
  value["program"] = run.program;
  value["scenario"] = run.scenario;
  value["model"] = model_json(run.model);
  value["parameters"] = Json::UInt64{run.model.parameters()};
  value["precision"] = std::string(name(run.precision));
  value["strategy"] = run.strategy;
  value["world_size"] = run.world_size;
  value["optimizer"] = optimizer_json(run.optimizer);
  value["progress"] = progress_json(manifest.progress);
  value["files"] = Json::Value(Json::arrayValue);
  for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
    value["files"].append(file_json(rank, manifest.files[rank], tensors));
  }
  return value;
}

/// Whether 15 digits say exactly what the number is: 0.9 then need not be 0.90000000000000002.
bool survives_15_digits(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", number);
  return std::strtod(text.data(), nullptr) == number;
}

int digits_needed(const CheckpointManifest& manifest) {
  const AdamOptions& adam = manifest.run.optimizer;
  const std::array<double, 6> numbers = {adam.learning_rate, adam.beta1,
                                         adam.beta2,         adam.epsilon,
                                         adam.weight_decay,  manifest.progress.loss_scale.scale};
  return std::all_of(numbers.begin(), numbers.end(), survives_15_digits) ? 15 : 17;
}

std::string text_of(const Json::Value& value, const std::string& indentation, int digits) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = indentation;
  builder["precision"] = digits;
  builder["precisionType"] = "significant";
  return Json::writeString(builder, value);
}

std::string digest_of(const Json::Value& content) {
  const std::string text = text_of(content, "", 17);
  Fnv1a hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

}  // namespace

std::string manifest_text(const CheckpointManifest& manifest) {
  Json::Value value = content_json(manifest);
  value["digest"] = digest_of(value);
  return text_of(value, "  ", digits_needed(manifest)) + "\n";
}

std::string manifest_digest(const CheckpointManifest& manifest) {
  return digest_of(content_json(manifest));
}

bool is_strategy_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::string_view name(Activation activation) {
  return activation == Activation::relu ? "relu" : "tanh";
}

std::string_view name(Loss loss) { return loss == Loss::mse ? "mse" : "cross_entropy"; }

std::string_view name(AdamOptions::Variant variant) {
  return variant == AdamOptions::Variant::adam ? "adam" : "adamw";
}

}  // namespace shardscope
