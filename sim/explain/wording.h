// The sentences of a story, each a function of what it is about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/training/options.h"
#include "core/training/strategy.h"
#include "sim/explain/step_log.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// What is explained, and how to read it.
std::vector<std::string> introduction(const Scenario& scenario);

/// What the strategy holds whole or as shards, and how ranks meet.
std::string about(const Strategy& strategy, const TrainingOptions& training);

/// Losses of the ranks and their mean.
std::string losses(const std::vector<StepLog>& logs);

/// What each rank computes in a stretch without collectives, from the names of its kernels.
std::vector<std::string> compute_sentences(const std::vector<const Moment*>& kernels,
                                           const Scenario& scenario,
                                           const std::vector<StepLog>& logs);

/// The equations of the update with the scenario's numbers.
std::string adam_sentence(const TrainingOptions& training, std::int64_t step);

/// "Backward: reduce_scatter layers.1 (gradients, S = 4 x 2 B)".
std::string collective_title(const Moment& moment);

}  // namespace shardscope
