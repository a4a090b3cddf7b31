#include <json/json.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "sim/checkpoint/faults.h"
#include "sim/checkpoint/manifest.h"
#include "sim/checkpoint/manifest_json.h"
#include "sim/files/strict_json.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// More parameters could not be counted in bytes.
constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 56;

constexpr std::int64_t kMostSteps = std::numeric_limits<std::int64_t>::max() - 1;

/// Faults of one kind that are named one by one.
constexpr std::size_t kMostNamed = 20;

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string item_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

/// Elements of a layer, or nothing if they are too many.
std::optional<std::uint64_t> layer_elements(std::uint64_t in, std::uint64_t out) {
  std::uint64_t weights = 0;
  std::uint64_t all = 0;
  const bool overflow =
      __builtin_mul_overflow(in, out, &weights) || __builtin_add_overflow(weights, out, &all);
  return overflow || all > kMostParameters ? std::nullopt : std::optional(all);
}

bool fits(const std::vector<std::size_t>& widths) {
  std::uint64_t parameters = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto elements = layer_elements(widths[i], widths[i + 1]);
    if (!elements || (parameters += *elements) > kMostParameters) {
      return false;
    }
  }
  return true;
}

std::optional<std::size_t> parse_index(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

/// Whether the value is that whole number. JsonCpp's == also asks whether both are signed.
bool equals(const Json::Value& value, std::uint64_t number) {
  return value.type() != Json::realValue && value.isUInt64() && value.asUInt64() == number;
}

/// Reads the fields one by one. A field that is wrong is a fault and gets a value that no later
/// check minds; the manifest is dropped if there was any fault.
class ManifestReader {
 public:
  ManifestReader(const std::string& place, std::vector<Fault>& faults)
      : place_(place), faults_(faults), faults_before_(faults.size()) {}

  std::optional<CheckpointManifest> read(const Json::Value& root) {
    if (!is_format(root)) {
      return std::nullopt;
    }
    check_members(
        root, "",
        {"format", "format_version", "program", "scenario", "model", "parameters", "precision",
         "strategy", "world_size", "optimizer", "progress", "files", "digest"});
    CheckpointManifest manifest;
    read_run(root, manifest.run);
    if (has_member(root["model"], "widths") && !is_faulty()) {
      check_parameters(root, manifest.run.model);
    }
    if (root["progress"].isObject()) {
      read_progress(root["progress"], manifest.progress);
    }
    if (is_faulty()) {
      return std::nullopt;  // Files and ranges mean nothing without the model and the world size.
    }
    read_files(root["files"], manifest);
    if (!is_faulty()) {
      check_digest(root["digest"], manifest);
    }
    return is_faulty() ? std::nullopt : std::optional(std::move(manifest));
  }

 private:
  bool is_faulty() const { return faults_.size() > faults_before_; }

  void fault(std::string field, std::string problem, std::string allowed = "",
             std::string nearest = "") {
    faults_.push_back(fault_at(place_, std::move(field), std::move(problem), std::move(allowed),
                               std::move(nearest)));
  }

  void refuse(std::string field, const Json::Value& value, std::string allowed) {
    fault(std::move(field), json_text(value) + " is not allowed", std::move(allowed));
  }

  static bool has_member(const Json::Value& object, const char* key) {
    return object.isObject() && object.isMember(key);
  }

  bool is_format(const Json::Value& root) {
    if (!has_member(root, "format") || root["format"] != kManifestFormat) {
      fault("format", "this is no manifest of a checkpoint",
            "\"format\": \"" + std::string(kManifestFormat) + "\"");
      return false;
    }
    if (!equals(root["format_version"], kManifestVersion)) {
      refuse("format_version", root["format_version"], std::to_string(kManifestVersion));
      return false;
    }
    return true;
  }

  /// That the value is an object with exactly these members.
  void check_members(const Json::Value& object, const std::string& path,
                     const std::vector<std::string>& keys) {
    if (!object.isObject()) {
      refuse(path, object, "an object");
      return;
    }
    for (const std::string& key : keys) {
      if (!object.isMember(key)) {
        fault(joined(path, key), "missing");
      }
    }
    std::size_t unknown = 0;
    for (const std::string& key : object.getMemberNames()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end() && ++unknown <= kMostNamed) {
        fault(joined(path, shown(key)), "unknown field", one_of(keys), nearest_name(key, keys));
      }
    }
  }

  /// The readers of one field do nothing if it is not there, which check_members() has said.
  std::string read_text(const Json::Value& object, const std::string& path, const char* key) {
    if (!has_member(object, key)) {
      return "";
    }
    if (!object[key].isString()) {
      refuse(joined(path, key), object[key], "a text");
      return "";
    }
    return object[key].asString();
  }

  std::int64_t read_whole(const Json::Value& object, const std::string& path, const char* key,
                          std::int64_t least, std::int64_t most) {
    if (!has_member(object, key)) {
      return least;
    }
    const Json::Value& value = object[key];
    const bool is_whole = value.type() == Json::intValue || value.type() == Json::uintValue;
    if (!is_whole || !value.isInt64() || value.asInt64() < least || value.asInt64() > most) {
      refuse(joined(path, key), value,
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
      return least;
    }
    return value.asInt64();
  }

  double read_number(const Json::Value& object, const std::string& path, const char* key,
                     const std::function<bool(double)>& is_allowed, const std::string& allowed) {
    if (!has_member(object, key)) {
      return 0;
    }
    const Json::Value& value = object[key];
    if (!value.isNumeric() || !std::isfinite(value.asDouble()) || !is_allowed(value.asDouble())) {
      refuse(joined(path, key), value, allowed);
      return 0;
    }
    return value.asDouble();
  }

  template <typename Enum>
  Enum read_name(const Json::Value& object, const std::string& path, const char* key,
                 std::initializer_list<Enum> values) {
    std::vector<std::string> names;
    for (const Enum value : values) {
      names.emplace_back(name(value));
      if (has_member(object, key) && object[key] == names.back()) {
        return value;
      }
    }
    if (has_member(object, key)) {
      refuse(joined(path, key), object[key], one_of(names));
    }
    return *values.begin();
  }

  void read_run(const Json::Value& root, CheckpointRun& run) {
    run.program = read_text(root, "", "program");
    run.scenario = read_text(root, "", "scenario");
    run.precision = read_name(root, "", "precision", {DType::fp32, DType::bf16, DType::fp16});
    run.strategy = read_text(root, "", "strategy");
    if (root["strategy"].isString() && !is_strategy_name(run.strategy)) {
      refuse("strategy", root["strategy"], "capitals, digits and underscores, at most 64");
    }
    run.world_size = static_cast<int>(read_whole(root, "", "world_size", 1, kMostCheckpointRanks));
    if (root.isMember("model")) {
      read_model(root["model"], run.model);
    }
    if (root.isMember("optimizer")) {
      read_optimizer(root["optimizer"], run.optimizer);
    }
    if (root.isMember("progress")) {
      check_members(root["progress"], "progress", {"steps", "updates", "next_batch", "loss_scale"});
    }
  }

  void read_model(const Json::Value& value, ModelSpec& model) {
    check_members(value, "model", {"widths", "activation", "loss"});
    model.activation =
        read_name(value, "model", "activation", {Activation::relu, Activation::tanh});
    model.loss = read_name(value, "model", "loss", {Loss::mse, Loss::cross_entropy});
    if (!has_member(value, "widths")) {
      return;
    }
    const Json::Value& widths = value["widths"];
    for (const Json::Value& width : widths) {
      const bool is_whole = width.type() == Json::intValue || width.type() == Json::uintValue;
      if (!widths.isArray() || !is_whole || !width.isUInt64() || width.asUInt64() == 0) {
        refuse("model.widths", widths, "a list of whole numbers from 1");
        return;
      }
      model.widths.push_back(width.asUInt64());
    }
    if (model.widths.size() < 2) {
      refuse("model.widths", widths, "at least two widths, input and output");
    } else if (!fits(model.widths)) {
      refuse("model.widths", widths, "at most " + std::to_string(kMostParameters) + " parameters");
    }
  }

  void check_parameters(const Json::Value& root, const ModelSpec& model) {
    const std::uint64_t parameters = model.parameters();
    if (!equals(root["parameters"], parameters)) {
      refuse("parameters", root["parameters"], std::to_string(parameters) + ", as of model.widths");
    }
  }

  void read_optimizer(const Json::Value& value, AdamOptions& adam) {
    const std::string path = "optimizer";
    check_members(value, path,
                  {"name", "learning_rate", "beta1", "beta2", "epsilon", "weight_decay"});
    adam.variant =
        read_name(value, path, "name", {AdamOptions::Variant::adam, AdamOptions::Variant::adamw});
    const auto from_0 = [](double number) { return number >= 0; };
    const auto share = [](double number) { return number >= 0 && number < 1; };
    const std::string at_least_0 = "a finite number from 0";
    const std::string below_1 = "a number from 0 to below 1";
    adam.learning_rate = read_number(value, path, "learning_rate", from_0, at_least_0);
    adam.beta1 = read_number(value, path, "beta1", share, below_1);
    adam.beta2 = read_number(value, path, "beta2", share, below_1);
    adam.epsilon = read_number(value, path, "epsilon", from_0, at_least_0);
    adam.weight_decay = read_number(value, path, "weight_decay", from_0, at_least_0);
  }

  void read_progress(const Json::Value& value, TrainingProgress& progress) {
    progress.steps = read_whole(value, "progress", "steps", 0, kMostSteps);
    progress.updates = read_whole(value, "progress", "updates", 0, progress.steps);
    if (value.isMember("next_batch") &&
        !equals(value["next_batch"], static_cast<std::uint64_t>(progress.steps))) {
      refuse("progress.next_batch", value["next_batch"],
             std::to_string(progress.steps) + ", as progress.steps");
    }
    if (!value.isMember("loss_scale")) {
      return;
    }
    const std::string path = "progress.loss_scale";
    const Json::Value& scale = value["loss_scale"];
    check_members(scale, path, {"scale", "good_steps", "hysteresis"});
    progress.loss_scale.scale = read_number(
        scale, path, "scale", [](double number) { return number > 0; }, "a finite number above 0");
    progress.loss_scale.good_steps = read_whole(scale, path, "good_steps", 0, kMostSteps);
    progress.loss_scale.hysteresis = read_whole(scale, path, "hysteresis", 0, kMostSteps);
  }

  void read_files(const Json::Value& value, CheckpointManifest& manifest) {
    const auto ranks = static_cast<std::size_t>(manifest.run.world_size);
    if (!value.isArray() || value.size() != ranks) {
      fault("files", value.isArray() ? std::to_string(value.size()) + " files" : json_text(value),
            "a list of " + std::to_string(ranks) + ", one per rank");
      return;
    }
    tensors_ = model_tensors(manifest.run.model);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      tensor_by_name_.emplace(tensors_[i].name, i);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      manifest.files.push_back(read_file(value[static_cast<Json::ArrayIndex>(rank)], rank, ranks));
    }
  }

  CheckpointFile read_file(const Json::Value& value, std::size_t rank, std::size_t ranks) {
    CheckpointFile file;
    const std::string path = item_path("files", rank);
    check_members(value, path, {"rank", "name", "bytes", "checksum", "ranges"});
    if (!value.isObject()) {
      return file;
    }
    if (!equals(value["rank"], rank)) {
      refuse(joined(path, "rank"), value["rank"], std::to_string(rank));
    }
    file.ranges = read_ranges(value["ranges"], joined(path, "ranges"));
    file.bytes = static_cast<std::uint64_t>(
        read_whole(value, path, "bytes", 0, std::numeric_limits<std::int64_t>::max()));
    if (value["name"].isNull() && file.ranges.empty()) {
      if (file.bytes != 0 || !value["checksum"].isNull()) {
        fault(path, "bytes or a checksum without a file", "0 and null");
      }
      return file;
    }
    // The format gives the name: a manifest cannot point anywhere else.
    file.name = rank_file_name(rank, ranks);
    if (value["name"] != file.name) {
      refuse(joined(path, "name"), value["name"], "\"" + file.name + "\", or null with no ranges");
    }
    file.checksum = read_text(value, path, "checksum");
    return file;
  }

  std::vector<TensorRange> read_ranges(const Json::Value& value, const std::string& path) {
    std::vector<TensorRange> ranges;
    if (!value.isArray()) {
      refuse(path, value, "a list of texts such as \"layers.0.weight[0:8]\"");
      return ranges;
    }
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      if (const auto range = read_range(value[i], path)) {
        ranges.push_back(*range);
      }
    }
    return ranges;
  }

  std::optional<TensorRange> read_range(const Json::Value& value, const std::string& path) {
    const std::string text = value.isString() ? value.asString() : "";
    const std::size_t bracket = text.find('[');
    const std::size_t colon = text.find(':', bracket);
    if (colon == std::string::npos || text.back() != ']') {
      refuse(path, value, "texts such as \"layers.0.weight[0:8]\"");
      return std::nullopt;
    }
    const auto tensor = tensor_by_name_.find(text.substr(0, bracket));
    if (tensor == tensor_by_name_.end()) {
      fault(path, json_text(value) + " is of no tensor of the model",
            tensors_.front().name + " to " + tensors_.back().name);
      return std::nullopt;
    }
    const std::string_view numbers(text);
    const auto begin = parse_index(numbers.substr(bracket + 1, colon - bracket - 1));
    const auto end = parse_index(numbers.substr(colon + 1, text.size() - colon - 2));
    const ModelTensor& found = tensors_[tensor->second];
    if (!begin || !end || *begin >= *end || *end > found.count) {
      refuse(path, value, "[begin:end] with 0 <= begin < end <= " + std::to_string(found.count));
      return std::nullopt;
    }
    return TensorRange{tensor->second, *begin, *end};
  }

  void check_digest(const Json::Value& value, const CheckpointManifest& manifest) {
    if (value != manifest_digest(manifest)) {
      fault("digest", json_text(value) + " is not that of the fields",
            "\"" + manifest_digest(manifest) + "\": the manifest has been changed");
    }
  }

  const std::string& place_;
  std::vector<Fault>& faults_;
  std::size_t faults_before_;
  std::vector<ModelTensor> tensors_;
  std::unordered_map<std::string, std::size_t> tensor_by_name_;
};

}  // namespace

std::optional<CheckpointManifest> parse_manifest(const std::string& text, const std::string& place,
                                                 std::vector<Fault>& faults) {
  Json::Value root;
  if (auto problem = parse_strict_json(text, root)) {
    faults.push_back(fault_at(place, "", *std::move(problem)));
    return std::nullopt;
  }
  return ManifestReader(place, faults).read(root);
}

}  // namespace shardscope
