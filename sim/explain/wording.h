// The sentences of a story, each a function of what it is about.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/training/options.h"
#include "core/training/strategy.h"
#include "sim/explain/moved_elements.h"
#include "sim/explain/step_log.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// What is explained, and how to read it.
std::vector<std::string> introduction(const Scenario& scenario);

/// What the strategy holds whole or as shards, and how ranks meet.
std::string about(const Strategy& strategy, const Scenario& scenario);

/// Losses of the ranks and their mean.
std::string losses(const std::vector<StepLog>& logs);

/// What happens on rank 0 in a stretch without collectives.
struct Stretch {
  const std::vector<const Moment*>& moments;
  const Scenario& scenario;
  const Strategy& strategy;
  const std::vector<StepLog>& logs;
  const std::vector<std::size_t>& section_of;  ///< By collective.
};

/// What each rank computes and waits for in it.
std::vector<std::string> compute_sentences(const Stretch& stretch);

/// The clipping coefficient and what it comes from; empty without clipping.
std::string clip_sentence(const Scenario& scenario, const Strategy& strategy, const StepLog& log);

/// The equations of the update with the scenario's numbers.
std::string adam_sentence(const TrainingOptions& training, const StepLog& log);

/// What becomes of a dynamic loss scale; empty if it is static.
std::string loss_scale_sentence(const TrainingOptions& training, const StepLog& log);

/// "Backward: reduce_scatter layers.1 (gradients, S = 4 x 2 B)".
std::string collective_title(const Moment& moment, const MovedElements& moved,
                             const Strategy& strategy);

}  // namespace shardscope
