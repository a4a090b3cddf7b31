#include "sim/explain/wording.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/explain/number_text.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

// "layer 1", "layers 0 and 1".
std::string layers_text(const std::vector<std::string>& layers) {
  return (layers.size() == 1 ? "layer " : "layers ") + listed(layers);
}

// One sentence of a stretch: what goes on without a break.
enum class Activity { average, forward, loss, backward, recompute, wait, none };

Activity activity_of(const Moment& moment) {
  if (moment.waits_for.has_value()) {
    return Activity::wait;
  }
  const std::string& kernel = moment.kernel;
  if (kernel == "average") {
    return Activity::average;
  }
  if (kernel == "linear") {
    return Activity::forward;
  }
  if (kernel == "recompute") {
    return Activity::recompute;
  }
  if (kernel == "loss" && moment.position.phase == Phase::forward) {
    return Activity::loss;
  }
  return kernel == "parameters" || kernel == "input" ? Activity::backward : Activity::none;
}

// Writes the sentences of a stretch in its order. Gradients that are copied, added or converted
// while backward goes on are a sentence after it.
class StretchTeller {
 public:
  explicit StretchTeller(const Stretch& stretch) : stretch_(stretch) {}

  std::vector<std::string> tell() {
    for (const Moment* moment : stretch_.moments) {
      follow(*moment);
    }
    end();
    return std::move(sentences_);
  }

 private:
  const TrainingOptions& training() const { return stretch_.scenario.training; }

  void follow(const Moment& moment) {
    const Activity activity = activity_of(moment);
    if (activity == Activity::none) {
      follow_side(moment);
      return;
    }
    if (activity != activity_) {
      end();
      activity_ = activity;
    }
    begin_micro_step(moment);
    if (activity == Activity::wait) {
      sections_.push_back(std::to_string(stretch_.section_of[*moment.waits_for]));
    } else if (moment.kernel != "input" && moment.position.layer.has_value()) {
      layers_.push_back(std::to_string(*moment.position.layer));
    }
    last_ = &moment;
  }

  void follow_side(const Moment& moment) {
    if (moment.position.phase != Phase::backward || moment.kernel == "loss") {
      return;
    }
    std::string text;
    if (moment.kernel == "copy") {
      text = "Gradients are copied to their bucket.";
    } else if (moment.kernel == "accumulate") {
      text = "Gradients are added to those that are kept.";
    } else if (moment.kernel == "convert") {
      text = is_kept_type(moment) ? "Gradients are kept in fp32."
                                  : "The gradients are converted to " +
                                        std::string(name(training().reduce_precision)) + ".";
    }
    if (!text.empty() && std::find(sides_.begin(), sides_.end(), text) == sides_.end()) {
      sides_.push_back(text);
    }
  }

  // Of a layer, before its gradients go anywhere.
  bool is_kept_type(const Moment& moment) const {
    return moment.position.layer.has_value() &&
           stretch_.strategy.gradients == Placement::replicated &&
           training().accumulate_precision() != training().precision;
  }

  void begin_micro_step(const Moment& moment) {
    if (training().micro_batches > 1 && activity_ == Activity::forward && layers_.empty() &&
        moment.position.layer == 0U) {
      sentences_.push_back("Micro-step " + std::to_string(losses_before(moment) + 1) + " of " +
                           std::to_string(training().micro_batches) + ".");
    }
  }

  // Micro-steps whose forward ended before the moment.
  std::size_t losses_before(const Moment& moment) const {
    const std::vector<Moment>& moments = stretch_.logs.front().moments;
    return static_cast<std::size_t>(std::count_if(moments.data(), &moment, [](const Moment& other) {
      return activity_of(other) == Activity::loss;
    }));
  }

  void end() {
    const std::string text = sentence();
    if (!text.empty()) {
      sentences_.push_back(text);
    }
    sentences_.insert(sentences_.end(), sides_.begin(), sides_.end());
    activity_ = Activity::none;
    layers_.clear();
    sections_.clear();
    sides_.clear();
  }

  std::string sentence() const {
    switch (activity_) {
      case Activity::average:
        return "Each rank divides the sums that it uses by " + divisor() + ".";
      case Activity::forward:
        return "Forward through " + layers_text(layers_) + ".";
      case Activity::recompute:
        return "Forward again through " + layers_text(layers_) +
               ", whose activations were not all kept.";
      case Activity::backward:
        return "Backward through " + layers_text(layers_) + ".";
      case Activity::loss:
        return losses_before(*last_) + 1 == training().micro_batches
                   ? "Loss: " + losses(stretch_.logs) + "."
                   : "";
      case Activity::wait:
        return "What section" + std::string(sections_.size() == 1 ? " " : "s ") +
               listed(sections_) + " began is waited for.";
      case Activity::none:
        break;
    }
    return "";
  }

  // Replicas of shards may be averaged apart, after the shards.
  std::string divisor() const {
    const int n = stretch_.scenario.world_size;
    const int group = shard_group_ranks(stretch_.strategy, n);
    if (group == n || stretch_.strategy.reduce_across_every_micro_step) {
      return "N = " + std::to_string(n);
    }
    return std::to_string(last_->position.layer.has_value() || !sums_replicas() ? group
                                                                                : n / group);
  }

  // Whether the collective before this stretch is that of the replicas.
  bool sums_replicas() const {
    const std::vector<Moment>& moments = stretch_.logs.front().moments;
    for (const Moment* moment = last_; moment != moments.data(); --moment) {
      if (moment->collective.has_value()) {
        return moment->collective->group.stride > 1 ||
               shard_group_ranks(stretch_.strategy, stretch_.scenario.world_size) == 1;
      }
    }
    return false;
  }

  const Stretch& stretch_;
  Activity activity_ = Activity::none;
  std::vector<std::string> layers_;
  std::vector<std::string> sections_;
  std::vector<std::string> sides_;
  const Moment* last_ = nullptr;
  std::vector<std::string> sentences_;
};

std::string buckets_text(const BucketRule& rule) {
  switch (rule.kind) {
    case BucketRule::Kind::model:
      return "";
    case BucketRule::Kind::layer:
      return "of each layer ";
    case BucketRule::Kind::closed_at_size:
      return "in buckets that are full with " + std::to_string(rule.bytes) + " B (the first with " +
             std::to_string(rule.first_bytes) + ") ";
    case BucketRule::Kind::closed_before_it:
      return "in buckets of at most " + std::to_string(rule.elements) + " elements ";
  }
  return "";
}

std::string publishing_text(const Strategy& strategy) {
  if (strategy.parameters == Placement::replicated) {
    return strategy.partition == Partition::tensor_owner
               ? "each rank updates the tensors that it owns, and broadcasts the new parameters."
               : "each rank updates its shard, and an all_gather gives the new parameters to all.";
  }
  std::string text =
      "each rank updates its shard. Before each use an all_gather fetches a layer's "
      "parameters; they are dropped after it";
  if (!strategy.gather.reshard_after_forward) {
    text += "s backward";
  }
  if (strategy.gather.traced) {
    text += " unless they are used again within " +
            std::to_string(strategy.gather.max_reuse_distance) + " elements (from step 2 on)";
  }
  text += ".";
  if (strategy.gather.persistence_threshold > 0) {
    text += " Tensors of at most " + std::to_string(strategy.gather.persistence_threshold) +
            " elements stay, and an all_gather gives their new parameters to all.";
  }
  return text;
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
  const std::string micro_steps =
      training.micro_batches == 1
          ? ""
          : " in " + std::to_string(training.micro_batches) + " micro-steps";
  const std::string masters = training.has_master_weights() ? "w master weights, " : "";
  return {"N = " + n + " ranks with " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
              " each" + micro_steps + "; layers " + widths +
              ", P = " + std::to_string(model.parameters()) +
              " parameters. p parameters, g gradients (" + type + "); " + masters +
              "m and v Adam's moments (fp32). W0.1: element 1 of layer 0's weights, row by row; "
              "b0.1: of its bias; pad: padding.",
          "[ ] is a chunk; of what is sharded, chunk c is rank c's. Blank: not there or of no more "
          "use."};
}

std::string about(const Strategy& strategy, const Scenario& scenario) {
  std::vector<std::string> whole;
  std::vector<std::string> shards;
  const auto hold = [&](const char* state, Placement placement) {
    (placement == Placement::replicated ? whole : shards).emplace_back(state);
  };
  hold("p", strategy.parameters);
  hold("g", strategy.gradients);
  if (scenario.training.has_master_weights()) {
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
  text += buckets_text(strategy.reduction.buckets);
  text += strategy.reduction.time == ReductionTime::during_backward ? "during backward"
                                                                    : "after backward";
  text += strategy.reduction.overlap ? ", which goes on; " : "; ";
  text += strategy.optimizer == Placement::replicated ? "every rank makes the same update."
                                                      : publishing_text(strategy);
  const int group = shard_group_ranks(strategy, scenario.world_size);
  if (group < scenario.world_size) {
    text += " Shards are cut among " + std::to_string(group) +
            (group == 1 ? " rank" : " ranks in a row") +
            "; an all_reduce adds the shards of the groups.";
  }
  return text;
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

std::vector<std::string> compute_sentences(const Stretch& stretch) {
  return StretchTeller(stretch).tell();
}

std::string clip_sentence(const Scenario& scenario, const Strategy& strategy, const StepLog& log) {
  if (!log.norm.has_value()) {
    return "";
  }
  const double clip = scenario.training.clip_norm;
  const std::string norm = number_text(*log.norm);
  const std::string excess = "(" + norm + " + 1e-6) / " + number_text(clip);
  const std::string scale =
      log.loss_scale == 1 ? ""
                          : " (the gradients are " + number_text(log.loss_scale) + " times it)";
  return "The norm is the root of the sum of squares, " + norm + scale + "; c = " +
         (strategy.framework == Framework::deepspeed ? "1 / max(1, " + excess + ")"
                                                     : "min(1, 1 / (" + excess + "))") +
         " = " + number_text(std::min(1.0, clip / (*log.norm + 1e-6))) + ".";
}

std::string loss_scale_sentence(const TrainingOptions& training, const StepLog& log) {
  if (!training.dynamic_loss_scale.has_value()) {
    return "";
  }
  const std::string now = number_text(log.loss_scale);
  const std::string next = log.next_loss_scale == log.loss_scale
                               ? "stays " + now
                               : "was " + now + " and becomes " + number_text(log.next_loss_scale);
  return (log.skipped ? "Gradients overflow: nothing is updated. " : "") +
         std::string("The loss scale ") + next + ".";
}

std::string adam_sentence(const TrainingOptions& training, const StepLog& log) {
  const AdamOptions& adam = training.optimizer;
  const bool decoupled = adam.variant == AdamOptions::Variant::adamw;
  const std::string w = training.has_master_weights() ? "w" : "p";
  const std::string decay = number_text(adam.weight_decay);
  const auto corrected = [&](const char* moment, double beta) {
    return std::string(moment) + " / (1 - " + number_text(beta) + "^" + std::to_string(log.update) +
           ")";
  };
  std::string text;
  if (log.loss_scale != 1 || log.norm.has_value()) {
    text += "g = g" + (log.norm.has_value() ? std::string(" c") : std::string()) +
            (log.loss_scale != 1 ? " / " + number_text(log.loss_scale) : "") + "; ";
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

std::string collective_title(const Moment& moment, const MovedElements& moved,
                             const Strategy& strategy) {
  const CollectiveLog& log = *moment.collective;
  std::string phase(name(moment.position.phase));
  phase.front() = static_cast<char>(phase.front() - 'a' + 'A');
  std::string text = phase + ": " + log.name;
  if (moved.root.has_value()) {
    text += " from rank " + std::to_string(*moved.root);
  }
  if (moved.kind == MovedElements::Kind::prefetch) {
    text += " ahead of its use";
  } else if (moved.kind == MovedElements::Kind::across) {
    text += " across groups";
  }
  text += moved.is_of_parameters() ? " (parameters" : " (gradients";
  const BucketRule::Kind rule = strategy.reduction.buckets.kind;
  if (moved.kind == MovedElements::Kind::reduce && rule != BucketRule::Kind::model &&
      rule != BucketRule::Kind::layer) {
    text += ", bucket " + std::to_string(moved.bucket + 1);
  }
  return text + ", S = " + std::to_string(log.chunking.count) + " x " +
         std::to_string(size_of(log.dtype)) + " B)";
}

}  // namespace shardscope
