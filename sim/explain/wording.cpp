#include "sim/explain/wording.h"

#include <algorithm>
#include <string_view>

#include "sim/explain/number_text.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

// "layer 1", "layers 0 and 1".
std::string layers_text(const std::vector<std::string>& layers) {
  return (layers.size() == 1 ? "layer " : "layers ") + listed(layers);
}

// The layers whose kernels of that name and phase are among these, in their order.
std::vector<std::string> layers_with(const std::vector<const Moment*>& kernels,
                                     std::string_view kernel, Phase phase) {
  std::vector<std::string> layers;
  for (const Moment* moment : kernels) {
    if (moment->kernel == kernel && moment->position.phase == phase) {
      layers.push_back(std::to_string(moment->position.layer.value_or(0)));
    }
  }
  return layers;
}

bool has(const std::vector<const Moment*>& kernels, std::string_view kernel, Phase phase) {
  return std::any_of(kernels.begin(), kernels.end(), [&](const Moment* moment) {
    return moment->kernel == kernel && moment->position.phase == phase;
  });
}

}  // namespace

std::vector<std::string> introduction(const Scenario& scenario) {
  const ModelSpec& model = scenario.model;
  const TrainingOptions& training = scenario.training;
  const std::string n = std::to_string(scenario.world_size);
  std::string widths;
  for (const std::size_t width : model.widths) {
    widths += (widths.empty() ? "" : "-") + std::to_string(width);
  }
  const std::string type(name(training.precision));
  const std::size_t rows = training.global_batch / static_cast<std::size_t>(scenario.world_size);
  const std::string masters = training.has_master_weights() ? "w master weights, " : "";
  return {"N = " + n + " ranks with " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
              " each; layers " + widths + ", P = " + std::to_string(model.parameters()) +
              " parameters. p parameters, g gradients (" + type + "); " + masters +
              "m and v Adam's moments (fp32). W0.1: element 1 of layer 0's weights, row by row; "
              "b0.1: of its bias; pad: padding.",
          "[ ] is a chunk; chunk c is rank c's shard. Blank: not there or of no more use."};
}

std::string about(const Strategy& strategy, const TrainingOptions& training) {
  std::vector<std::string> whole;
  std::vector<std::string> shards;
  const auto hold = [&](const char* state, Placement placement) {
    (placement == Placement::replicated ? whole : shards).emplace_back(state);
  };
  hold("p", strategy.parameters);
  hold("g", strategy.gradients);
  if (training.has_master_weights()) {
    hold("w", strategy.optimizer);
  }
  hold("m", strategy.optimizer);
  hold("v", strategy.optimizer);
  std::string text = "Every rank holds ";
  text += whole.empty() ? "" : "all of " + listed(whole);
  text += whole.empty() || shards.empty() ? "" : ", and ";
  text += shards.empty() ? "" : "its shard of " + listed(shards);
  text += strategy.reduction.collective == Reduction::all_reduce
              ? ". An all_reduce sums the gradients "
              : ". A reduce_scatter sums the gradients ";
  text += strategy.reduction.time == ReductionTime::during_backward
              ? "of each layer during backward; "
              : "after backward; ";
  if (strategy.optimizer == Placement::replicated) {
    return text + "every rank makes the same update.";
  }
  text += "each rank updates its shard";
  if (strategy.parameters == Placement::replicated) {
    return text + ", and an all_gather gives the new parameters to all.";
  }
  return text +
         ". Before each use an all_gather fetches a layer's parameters; they are dropped "
         "after it.";
}

std::string losses(const std::vector<StepLog>& logs) {
  std::vector<std::string> texts;
  double sum = 0;
  for (std::size_t rank = 0; rank < logs.size(); ++rank) {
    texts.push_back("rank " + std::to_string(rank) + " " + significant(logs[rank].loss, 4, 4));
    sum += logs[rank].loss;
  }
  std::string text;
  for (const std::string& loss : texts) {
    text += loss + (&loss == &texts.back() ? "; " : ", ");
  }
  return text + "mean " + significant(sum / static_cast<double>(logs.size()), 4, 4);
}

std::vector<std::string> compute_sentences(const std::vector<const Moment*>& kernels,
                                           const Scenario& scenario,
                                           const std::vector<StepLog>& logs) {
  std::vector<std::string> sentences;
  if (has(kernels, "average", Phase::backward)) {
    sentences.push_back("Each rank divides the sums that it uses by N = " +
                        std::to_string(scenario.world_size) + ".");
  }
  const auto forward = layers_with(kernels, "linear", Phase::forward);
  if (!forward.empty()) {
    sentences.push_back("Forward through " + layers_text(forward) + ".");
  }
  if (has(kernels, "loss", Phase::forward)) {
    sentences.push_back("Loss: " + losses(logs) + ".");
  }
  const auto backward = layers_with(kernels, "parameters", Phase::backward);
  if (!backward.empty()) {
    sentences.push_back("Backward through " + layers_text(backward) + ".");
  }
  if (has(kernels, "convert", Phase::backward)) {
    sentences.push_back("The gradients are converted to " +
                        std::string(name(scenario.training.reduce_precision)) + ".");
  }
  return sentences;
}

std::string adam_sentence(const TrainingOptions& training, std::int64_t step) {
  const AdamOptions& adam = training.optimizer;
  const bool decoupled = adam.variant == AdamOptions::Variant::adamw;
  const std::string w = training.has_master_weights() ? "w" : "p";
  const std::string decay = number_text(adam.weight_decay);
  const auto corrected = [&](const char* moment, double beta) {
    return std::string(moment) + " / (1 - " + number_text(beta) + "^" + std::to_string(step) + ")";
  };
  std::string text;
  if (training.loss_scale != 1) {
    text += "g = g / " + number_text(training.loss_scale) + "; ";
  }
  if (adam.weight_decay != 0) {
    text += decoupled
                ? w + " = " + w + " - " + number_text(adam.learning_rate) + " " + decay + " " + w
                : "g = g + " + decay + " " + w;
    text += "; ";
  }
  text += "m = " + number_text(adam.beta1) + " m + " + number_text(1 - adam.beta1) +
          " g; v = " + number_text(adam.beta2) + " v + " + number_text(1 - adam.beta2) + " g^2; " +
          w + " = " + w + " - " + number_text(adam.learning_rate) + " M / (sqrt(V) + " +
          number_text(adam.epsilon) + "), M = " + corrected("m", adam.beta1) +
          ", V = " + corrected("v", adam.beta2);
  if (training.has_master_weights()) {
    text += "; p is w in " + std::string(name(training.precision));
  }
  return text + ".";
}

std::string collective_title(const Moment& moment) {
  const CollectiveLog& log = *moment.collective;
  std::string phase(name(moment.position.phase));
  phase.front() = static_cast<char>(phase.front() - 'a' + 'A');
  return phase + ": " + log.name +
         (log.operation == Operation::all_gather ? " (parameters" : " (gradients") +
         ", S = " + std::to_string(log.chunking.count) + " x " +
         std::to_string(size_of(log.dtype)) + " B)";
}

}  // namespace shardscope
