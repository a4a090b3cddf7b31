#include "sim/scenario/reader.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/cluster_reader.h"
#include "sim/scenario/device_reader.h"
#include "sim/scenario/digest.h"
#include "sim/scenario/model_reader.h"
#include "sim/scenario/strategy_options.h"
#include "sim/scenario/unevenness_reader.h"
#include "sim/scenario/values.h"
#include "sim/text/text_file.h"

namespace shardscope {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr WholeRange kSteps{1, 1000000};
constexpr WholeRange kBatches{1, 2147483647};
constexpr WholeRange kMicroBatches{1, 1000000};
constexpr WholeRange kCheckpointedLayers{0, 10000};
constexpr WholeRange kScaleSteps{1, 1000000};
constexpr WholeRange kWorldSizes{1, 16384};
constexpr NumberRange kPositive{0, Bound::exclusive, 1e38, Bound::inclusive};
constexpr NumberRange kInFp32{1e-37, Bound::inclusive, 1e37, Bound::inclusive};  // And 1 / x.
constexpr NumberRange kScales{0, Bound::inclusive, 1e37, Bound::inclusive};
constexpr NumberRange kNotNegative{0, Bound::inclusive, 1e38, Bound::inclusive};
constexpr NumberRange kDecays{0, Bound::inclusive, 1, Bound::exclusive};

// Sizes beyond these could overflow 64-bit counts of bytes; real ones are far below.
constexpr double kMostParameters = 1e13;
constexpr NumberRange kUpdateRates{1, Bound::inclusive, 1e15, Bound::inclusive};
constexpr double kMostActivations = 1e15;
constexpr double kMostUpdates = 1e18;

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

DType dtype_of(const std::string& precision) {
  if (precision == "BF16") return DType::bf16;
  if (precision == "FP16") return DType::fp16;
  return DType::fp32;
}

// Parameters, and elements that layers pass on and keep of a row: in floating point, since sizes
// that are too large are yet to be refused.
struct ModelSize {
  double parameters = 0;
  double activations_of_row = 0;
};

ModelSize size_of_model(const ModelSpec& model) {
  ModelSize size;
  if (model.transformer.has_value()) {
    const TransformerSpec& spec = *model.transformer;
    const auto d = [](std::size_t n) { return static_cast<double>(n); };
    const double block = d(spec.hidden) * (2 * d(spec.query_width()) + 2 * d(spec.kv_width()) +
                                           3 * d(spec.intermediate));
    const double scores = spec.fused_attention ? 0 : 3 * d(spec.heads) * d(spec.sequence);
    size.parameters =
        d(spec.blocks) * block + d(spec.hidden) * (2 * d(spec.vocabulary) + d(spec.positions));
    size.activations_of_row =
        d(spec.sequence) *
        (d(spec.blocks) * (20 * d(spec.hidden) + 4 * d(spec.intermediate) + scores) +
         3 * d(spec.vocabulary));
    return size;
  }
  for (std::size_t i = 0; i < model.widths.size(); ++i) {
    const auto width = static_cast<double>(model.widths[i]);
    if (i > 0) size.parameters += (static_cast<double>(model.widths[i - 1]) + 1) * width;
    size.activations_of_row += width;
  }
  return size;
}

// Turns a file's message into a scenario, field by field, reporting what is wrong.
class Resolver {
 public:
  /// `cluster` is the part of what `text` was parsed into.
  Resolver(MessageText& text, const schema::Cluster& cluster, BatchUse batch,
           std::filesystem::path folder, std::filesystem::path platforms)
      : text_(text),
        values_(text),
        cluster_(cluster),
        batch_(batch),
        folder_(std::move(folder)),
        platforms_(std::move(platforms)) {}

  Scenario resolve() {
    resolve_name();
    read_model(
        text_,
        text_.has("model.hf_config") ? absolute_path("model.hf_config") : std::filesystem::path(),
        scenario_);
    resolve_training();
    resolve_cluster();
    resolve_checkpoint();
    resolve_strategies();
    apply_options(text_, scenario_.world_size, scenario_.strategies);
    if (batch_ == BatchUse::trained) check_batch_divides();
    check_offload();
    check_sizes();
    const std::string weights_digest = resolve_file("model.weights_file", scenario_.weights_file);
    const std::string data_digest = resolve_file("data.file", scenario_.data_file);
    if (!text_.has_faults()) {
      scenario_.digest = scenario_digest(scenario_, weights_digest, data_digest);
    }
    return std::move(scenario_);
  }

 private:
  void resolve_name() {
    scenario_.name = text_.string("name");
    const bool printable =
        !find_non_text(scenario_.name) && std::none_of(scenario_.name.begin(), scenario_.name.end(),
                                                       [](char c) { return c >= 0 && c < 0x20; });
    if (printable && !scenario_.name.empty() && scenario_.name.size() <= kLongestName) return;
    text_.refuse("name", "is not allowed", "1 to 200 printable characters");
  }

  void resolve_training() {
    TrainingOptions& training = scenario_.training;
    training.steps = static_cast<std::size_t>(values_.whole("training.steps", kSteps));
    training.global_batch =
        static_cast<std::size_t>(values_.whole("training.global_batch", kBatches));
    training.precision = dtype_of(text_.enumerator("training.precision"));
    training.fp32_gradient_accumulation = text_.boolean("training.fp32_gradient_accumulation");
    training.reduce_precision = text_.has("training.reduce_precision")
                                    ? dtype_of(text_.enumerator("training.reduce_precision"))
                                    : training.accumulate_precision();
    training.micro_batches =
        static_cast<std::size_t>(values_.whole("training.micro_batches", kMicroBatches));
    training.clip_norm = values_.number("training.clip_norm", kNotNegative);
    training.activation_checkpointing = static_cast<std::size_t>(
        values_.whole("training.activation_checkpointing", kCheckpointedLayers));
    training.loss_scale = values_.number("training.loss_scale", kInFp32);
    resolve_dynamic_loss_scale();
    training.storage =
        text_.enumerator("training.arithmetic") == "REAL" ? Storage::real : Storage::shape_only;
    resolve_arithmetic();
    resolve_offload();
    AdamOptions& optimizer = training.optimizer;
    optimizer.variant = text_.enumerator("training.optimizer.name") == "ADAM"
                            ? AdamOptions::Variant::adam
                            : AdamOptions::Variant::adamw;
    optimizer.learning_rate = values_.number("training.optimizer.learning_rate", kPositive);
    optimizer.beta1 = values_.number("training.optimizer.beta1", kDecays);
    optimizer.beta2 = values_.number("training.optimizer.beta2", kDecays);
    optimizer.epsilon = values_.number("training.optimizer.epsilon", kInFp32);
    optimizer.weight_decay = values_.number("training.optimizer.weight_decay", kNotNegative);
  }

  // A transformer has none, and need not say so.
  void resolve_arithmetic() {
    const char* path = "training.arithmetic";
    if (!text_.has("model.transformer") && !text_.has("model.hf_config")) return;
    if (text_.has(path) && scenario_.training.storage == Storage::real) {
      text_.refuse_combination(path, "is not allowed",
                               "NONE with a transformer: it has shapes only");
    }
    scenario_.training.storage = Storage::shape_only;
  }

  void resolve_offload() {
    scenario_.training.optimizer_on_host = text_.enumerator("training.optimizer_offload") == "CPU";
    scenario_.host.link_bytes_per_s =
        values_.quantity("cluster.host.link_bandwidth", Dimension::rate, Zero::refused);
    scenario_.host.adam_parameters_per_s =
        values_.number("cluster.host.adam_parameters_per_s", kUpdateRates);
    if (scenario_.training.optimizer_on_host && !scenario_.training.has_master_weights() &&
        !text_.is_refused("training.precision")) {
      text_.refuse_combination("training.optimizer_offload",
                               "needs fp32 weights beside the parameters",
                               "with training.precision BF16 or FP16");
    }
  }

  void resolve_dynamic_loss_scale() {
    if (!text_.has("training.dynamic_loss_scale")) return;
    if (scenario_.training.loss_scale != 1 && !text_.is_refused("training.loss_scale")) {
      text_.refuse_combination(
          "training.loss_scale", "is not allowed",
          "1 with training.dynamic_loss_scale, which has its own initial scale");
    }
    DynamicLossScale& dynamic = scenario_.training.dynamic_loss_scale.emplace();
    dynamic.initial = values_.number("training.dynamic_loss_scale.initial", kInFp32);
    dynamic.growth_interval =
        values_.optional_whole("training.dynamic_loss_scale.growth_interval", kScaleSteps);
    dynamic.hysteresis =
        values_.optional_whole("training.dynamic_loss_scale.hysteresis", kScaleSteps);
    if (text_.has("training.dynamic_loss_scale.minimum")) {
      constexpr const char* kMinimum = "training.dynamic_loss_scale.minimum";
      dynamic.minimum = values_.number(kMinimum, kScales);
      if (!text_.is_refused(kMinimum) && !text_.is_refused("training.dynamic_loss_scale.initial") &&
          dynamic.minimum > dynamic.initial) {
        text_.refuse_combination(kMinimum, "is not allowed",
                                 "at most training.dynamic_loss_scale.initial");
      }
    }
  }

  void resolve_cluster() {
    if (text_.has("cluster.world_size")) {
      scenario_.world_size = static_cast<int>(values_.whole("cluster.world_size", kWorldSizes));
    } else {
      text_.report_missing("cluster.world_size", "a number of ranks, for example 8");
    }
    ReadCluster read =
        read_cluster(text_,
                     {platforms_, text_.has("cluster.file") ? absolute_path("cluster.file")
                                                            : std::filesystem::path()},
                     scenario_.world_size);
    scenario_.device =
        read_device(text_, platforms_, scenario_.training.precision, read.node_device);
    scenario_.cluster = std::move(read.cluster);
    read_unevenness(text_, cluster_, scenario_.world_size, scenario_.cluster);
  }

  void resolve_checkpoint() {
    if (!text_.has("training.checkpoint")) {
      if (text_.has("cluster.storage.bandwidth")) {
        values_.quantity("cluster.storage.bandwidth", Dimension::rate, Zero::refused);
      }
      return;
    }
    CheckpointSpec& checkpoint = scenario_.checkpoint.emplace();
    const char* directory = "training.checkpoint.directory";
    if (!text_.has(directory)) {
      text_.report_missing(directory, "a folder for checkpoints");
    } else if (text_.string(directory).empty() || find_non_text(text_.string(directory))) {
      text_.refuse(directory, "is no path", "a folder for checkpoints");
    } else {
      checkpoint.directory = absolute_path(directory).string();
    }
    if (text_.has("training.checkpoint.every_steps")) {
      checkpoint.every_steps = values_.whole("training.checkpoint.every_steps", kSteps);
    } else {
      text_.report_missing("training.checkpoint.every_steps", "a number of steps");
    }
    checkpoint.keep = static_cast<std::size_t>(values_.whole("training.checkpoint.keep", kSteps));
    checkpoint.bandwidth_bytes_per_s =
        values_.required_quantity("cluster.storage.bandwidth", Dimension::rate, Zero::refused);
  }

  // Of a file or folder: relative to the scenario's, or to the current one.
  std::filesystem::path absolute_path(const char* path) {
    std::error_code error;
    const std::filesystem::path base =
        text_.is_overridden(path) ? std::filesystem::current_path(error) : folder_;
    return (base / text_.string(path)).lexically_normal();
  }

  void resolve_strategies() {
    const char* path = "strategies";
    if (text_.is_refused(path)) return;
    const int count = text_.count(path);
    if (count == 0) scenario_.strategies = paper_strategies();
    for (int i = 0; i < count; ++i) {
      const Strategy& strategy = *find_strategy(text_.enumerator(path, i));
      const bool listed =
          std::any_of(scenario_.strategies.begin(), scenario_.strategies.end(),
                      [&](const Strategy& other) { return other.name == strategy.name; });
      if (listed) {
        text_.refuse(path, "is listed twice", "each strategy once", {}, i);
      } else {
        scenario_.strategies.push_back(strategy);
      }
    }
  }

  void check_offload() {
    if (!scenario_.training.optimizer_on_host || text_.is_refused("strategies")) return;
    for (const Strategy& strategy : scenario_.strategies) {
      if (!strategy.has_shards()) {
        text_.refuse_combination(
            "training.optimizer_offload",
            "is not for " + std::string(strategy.name) + ", which does not shard the optimizer",
            "with other strategies");
      }
    }
  }

  void check_batch_divides() {
    const char* path = "training.global_batch";
    if (text_.is_refused(path) || text_.is_refused("cluster.world_size") ||
        text_.is_refused("training.micro_batches")) {
      return;
    }
    const std::size_t batch = scenario_.training.global_batch;
    const auto ranks = static_cast<std::size_t>(scenario_.world_size);
    const std::size_t micro_batches = scenario_.training.micro_batches;
    const std::size_t parts = ranks * micro_batches;
    if (batch % parts == 0) return;
    const std::size_t below = batch / parts * parts;
    const std::string nearest =
        below == 0 ? std::to_string(parts)
                   : std::to_string(below) + " or " + std::to_string(below + parts);
    const std::string value = text_.has(path) ? "" : std::to_string(batch) + ", the default, ";
    const std::string of_what =
        "cluster.world_size (" + std::to_string(ranks) + ")" +
        (micro_batches == 1 ? ""
                            : " x training.micro_batches (" + std::to_string(micro_batches) + ")");
    text_.refuse_combination(path, value + "is not allowed",
                             "a multiple of " + of_what + ": " + nearest);
  }

  void check_sizes() {
    for (const char* path : {"model", "model.layers", "model.transformer", "model.hf_config",
                             "model.sequence_length"}) {
      if (text_.is_refused(path)) return;
    }
    if (text_.has_faults() && scenario_.model.transformer.has_value()) return;
    const ModelSize size = size_of_model(scenario_.model);
    const double parameters = size.parameters;
    const char* path = text_.has("model.hf_config")     ? "model.hf_config"
                       : text_.has("model.transformer") ? "model.transformer.hidden_size"
                                                        : "model.layers";
    if (parameters > kMostParameters) {
      text_.refuse_combination(path, "and the other widths give too large a model",
                               "at most 1e13 parameters, not " + short_number(parameters));
      return;
    }
    if (batch_ == BatchUse::trained) check_size_of_training(size);
  }

  void check_size_of_training(const ModelSize& size) {
    const double activations =
        size.activations_of_row * static_cast<double>(scenario_.training.global_batch);
    if (activations > kMostActivations && !text_.is_refused("training.global_batch")) {
      text_.refuse_combination("training.global_batch", "rows of this model are too many",
                               "at most 1e15 activations in all, not " + short_number(activations));
    }
    const double updates =
        size.parameters * scenario_.world_size * static_cast<double>(scenario_.training.steps);
    if (updates > kMostUpdates && !text_.is_refused("training.steps")) {
      text_.refuse_combination(
          "training.steps", "steps of this model are too many",
          "parameters x ranks x steps of at most 1e18, not " + short_number(updates));
    }
  }

  // Makes the path absolute and gives the digest of the file's bytes.
  std::string resolve_file(const char* path, std::optional<std::string>& resolved) {
    if (!text_.has(path)) return {};
    std::error_code error;
    const std::filesystem::path given = text_.string(path);
    const std::filesystem::path absolute = absolute_path(path);
    resolved = absolute.string();
    const auto refuse = [&](const std::string& problem) {
      text_.refuse(path, problem, "a safetensors file; looked for " + absolute.string());
      return std::string();
    };
    if (find_non_text(given.native())) {
      text_.refuse(path, "is not text", "a path");
      return {};
    }
    if (given.empty()) return refuse("is empty");
    if (std::filesystem::is_directory(absolute, error)) return refuse("is a directory");
    if (!std::filesystem::exists(absolute, error)) return refuse("does not exist");
    if (!std::filesystem::is_regular_file(absolute, error)) return refuse("is not a regular file");
    const std::optional<std::string> digest = file_digest(absolute);
    return digest ? *digest : refuse("cannot be read");
  }

  MessageText& text_;
  Values values_;
  const schema::Cluster& cluster_;
  BatchUse batch_;
  std::filesystem::path folder_;
  std::filesystem::path platforms_;
  Scenario scenario_;
};

}  // namespace

std::optional<Scenario> read_scenario(const std::string& path,
                                      const std::vector<Override>& overrides,
                                      const std::filesystem::path& platforms,
                                      std::vector<Fault>& faults) {
  const std::optional<ScenarioFile> file = read_scenario_file(path, faults);
  return file ? parse_scenario(*file, overrides, platforms, faults) : std::nullopt;
}

std::optional<ScenarioFile> read_scenario_file(const std::string& path,
                                               std::vector<Fault>& faults) {
  std::optional<std::string> contents = read_text_file(path, faults);
  if (!contents) return std::nullopt;
  if (contents->find_first_not_of(" \t\r\n") == std::string::npos) {
    faults.push_back({path, {}, "is empty", "a scenario; shardscope init FILE writes one", {}});
    return std::nullopt;
  }
  return ScenarioFile{path, std::move(*contents)};
}

std::optional<Scenario> parse_scenario(const ScenarioFile& file,
                                       const std::vector<Override>& overrides,
                                       const std::filesystem::path& platforms,
                                       std::vector<Fault>& faults, BatchUse batch) {
  schema::Scenario message;
  MessageText text(file.path, file.contents, overrides, message);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file.path, error).parent_path();
  Scenario scenario = Resolver(text, message.cluster(), batch, folder, platforms).resolve();
  if (!text.has_faults()) return scenario;
  const std::vector<Fault> found = text.faults();
  faults.insert(faults.end(), found.begin(), found.end());
  return std::nullopt;
}

}  // namespace shardscope
