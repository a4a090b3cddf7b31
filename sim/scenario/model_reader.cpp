#include "sim/scenario/model_reader.h"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sim/models/hf_config.h"
#include "sim/scenario/checks.h"
#include "sim/scenario/values.h"

namespace shardscope {
namespace {

constexpr int kMostWidths = 10'001;
constexpr std::int64_t kMostWidth = std::numeric_limits<std::int32_t>::max();
constexpr WholeRange kWidths{1, kMostWidth};
constexpr WholeRange kPositions{0, kMostWidth};
constexpr WholeRange kBlocks{1, 10'000};
constexpr WholeRange kSequences{1, 16'777'216};
constexpr WholeRange kSeeds{0, std::numeric_limits<std::int64_t>::max()};

// The three ways to give a model.
constexpr std::array kWays = {"model.layers", "model.transformer", "model.hf_config"};

class ModelReader {
 public:
  ModelReader(MessageText& text, std::filesystem::path hf_config, Scenario& scenario)
      : text_(text), values_(text), hf_config_(std::move(hf_config)), scenario_(scenario) {}

  void read() {
    model().activation =
        text_.enumerator("model.activation") == "RELU" ? Activation::relu : Activation::tanh;
    model().loss = text_.enumerator("model.loss") == "MSE" ? Loss::mse : Loss::cross_entropy;
    scenario_.seed = static_cast<std::uint64_t>(values_.whole("model.seed", kSeeds));
    if (!is_one_way()) return;
    if (text_.has("model.transformer")) {
      read_transformer();
    } else if (text_.has("model.hf_config")) {
      read_hf_config();
    } else {
      read_widths();
      refuse_beside({"model.sequence_length", "model.fused_attention"}, "transformers");
      return;
    }
    model().loss = Loss::cross_entropy;
    refuse_beside({"model.activation", "model.loss", "model.weights_file", "data.file"},
                  "perceptrons (model.layers)");
  }

 private:
  ModelSpec& model() { return scenario_.model; }

  bool is_one_way() {
    const char* first = nullptr;
    bool is_one = true;
    for (const char* way : kWays) {
      const bool is_given = way == kWays[0] ? text_.count(way) > 0 : text_.has(way);
      if (is_given && first != nullptr) {
        text_.refuse_combination(way, "is a second model beside " + std::string(first),
                                 "one of model.layers, model.transformer and model.hf_config");
        is_one = false;
      }
      first = is_given && first == nullptr ? way : first;
    }
    return is_one;
  }

  void refuse_beside(const std::vector<const char*>& paths, const std::string& of_what) {
    for (const char* path : paths) {
      if (text_.has(path)) {
        text_.refuse_combination(path, "concerns " + of_what, "no such field");
      }
    }
  }

  void read_widths() {
    const char* path = "model.layers";
    const int count = text_.count(path);
    if (count == 0) {
      text_.report_missing(path, "at least two widths, for example [128, 512, 128]");
      return;
    }
    if (count == 1) text_.refuse(path, "is a single width", "at least two, input and output");
    if (count > kMostWidths) {
      text_.refuse(path, "and " + std::to_string(count - 1) + " more are too many widths",
                   "at most " + std::to_string(kMostWidths));
      return;
    }
    for (int i = 0; i < count; ++i) {
      const auto width = check_whole(text_, path, kWidths, i);
      model().widths.push_back(static_cast<std::size_t>(width.value_or(1)));
    }
  }

  std::size_t required(const char* field, WholeRange range) {
    return static_cast<std::size_t>(
        values_.required_whole(("model.transformer." + std::string(field)).c_str(), range));
  }

  void read_transformer() {
    TransformerSpec spec;
    spec.vocabulary = required("vocab_size", kWidths);
    spec.hidden = required("hidden_size", kWidths);
    spec.blocks = required("num_hidden_layers", kBlocks);
    spec.heads = required("num_attention_heads", kWidths);
    spec.intermediate = required("intermediate_size", kWidths);
    spec.kv_heads = static_cast<std::size_t>(
        values_.optional_whole("model.transformer.num_key_value_heads", kWidths)
            .value_or(static_cast<std::int64_t>(spec.heads)));
    spec.positions = static_cast<std::size_t>(
        values_.whole("model.transformer.max_position_embeddings", kPositions));
    spec.sequence =
        static_cast<std::size_t>(values_.required_whole("model.sequence_length", kSequences));
    spec.gated_mlp = text_.boolean("model.transformer.gated_mlp");
    const bool bias = text_.boolean("model.transformer.bias");
    spec.qkv_bias = bias;
    spec.attention_output_bias = bias;
    spec.mlp_bias = bias;
    spec.norm = text_.enumerator("model.transformer.norm") == "RMS_NORM" ? Norm::rms_norm
                                                                         : Norm::layer_norm;
    spec.tied_embeddings = text_.boolean("model.transformer.tie_word_embeddings");
    const bool dropout = text_.boolean("model.transformer.dropout");
    spec.dropout = dropout;
    spec.attention_dropout = dropout;
    spec.embedding_dropout = dropout;
    spec.fused_attention = text_.boolean("model.fused_attention");
    check_divides("num_attention_heads", spec.heads, "hidden_size", spec.hidden);
    check_divides("num_key_value_heads", spec.kv_heads, "num_attention_heads", spec.heads);
    if (spec.positions > 0 && spec.sequence > spec.positions && !text_.has_faults()) {
      text_.refuse_combination("model.sequence_length", "is longer than the position table",
                               "at most model.transformer.max_position_embeddings (" +
                                   std::to_string(spec.positions) + ")");
    }
    spec.head_dim = text_.has_faults() ? 1 : spec.hidden / spec.heads;
    model().transformer = spec;
  }

  void check_divides(const std::string& part, std::size_t parts, const std::string& of,
                     std::size_t whole) {
    const std::string path = "model.transformer." + part;
    if (text_.is_refused(path) || text_.is_refused("model.transformer." + of) || !text_.has(path) ||
        !text_.has("model.transformer." + of) || whole % parts == 0) {
      return;
    }
    text_.refuse_combination(
        path, "does not divide model.transformer." + of + " (" + std::to_string(whole) + ")",
        "a divisor of it");
  }

  void read_hf_config() {
    const std::size_t sequence =
        text_.has("model.sequence_length")
            ? static_cast<std::size_t>(values_.whole("model.sequence_length", kSequences))
            : 0;
    std::vector<Fault> faults;
    std::optional<HfModel> read = shardscope::read_hf_config(hf_config_, sequence, faults);
    text_.refuse_file("model.hf_config", hf_config_.string(), faults);
    if (!read) return;
    read->spec.fused_attention = text_.boolean("model.fused_attention");
    model().transformer = std::move(read->spec);
    scenario_.model_file = hf_config_.string();
    scenario_.model_notes = std::move(read->notes);
  }

  MessageText& text_;
  Values values_;
  std::filesystem::path hf_config_;
  Scenario& scenario_;
};

}  // namespace

void read_model(MessageText& text, const std::filesystem::path& hf_config, Scenario& scenario) {
  ModelReader(text, hf_config, scenario).read();
}

}  // namespace shardscope
