// Closed forms of what a strategy holds and sends; what a run measures is compared with them. b is
// the bytes of a parameter (2 in mixed precision, 4 in fp32), a those of an accumulated gradient, w
// those of a reduced one; N the ranks of a shard group, R the groups, P_u the elements of a unit,
// k_u its shard (shard_geometry.h), g the micro-steps, c = (N-1)/N. All figures are of one rank.
#pragma once

#include <cstdint>

#include "core/collectives/planner.h"
#include "core/nn/model.h"
#include "core/tensor/dtype.h"
#include "core/tensor/ledger.h"
#include "core/training/options.h"
#include "core/training/strategy.h"

namespace shardscope {

/// What the formulas are about: a rank of a training. References and the planner must outlive it.
struct TrainingRank {
  const Strategy& strategy;
  const ModelSpec& model;
  const TrainingOptions& options;
  int world_size = 1;
  int rank = 0;
  const CollectivePlanner* planner = nullptr;  ///< Of its collectives; null: ring_planner().
};

/// Model states, padding included (ZeRO, arXiv 1910.02054, section 5 and table 1):
///   replicated parameters, gradients: b, a N sum(k_u); sharded: b, a sum(k_u);
///   master weights (half types only) and each moment: 4 sum(k_u);
///   nothing sharded (ddp): b P, a P, 4 P, 4 P, 4 P; with owners of whole tensors those owned.
/// Categories beyond the states, and states on the host, are 0.
CategoryBytes predicted_state_bytes(const TrainingRank& rank);

/// The part of those states that is on the host (TrainingOptions::optimizer_on_host), which
/// predicted_state_bytes leaves out: master weights and moments, and gradients if they are sharded.
CategoryBytes predicted_host_bytes(const TrainingRank& rank);

/// The same for a model of which only the number of parameters is known, as one unit.
CategoryBytes model_state_bytes(const Strategy& strategy, std::uint64_t parameters, int world_size,
                                DType precision);

/// What a step is that matters to the wire.
struct StepKind {
  bool is_first = false;  ///< Of the run: nothing was traced (GatherOptions::traced).
  bool skipped = false;   ///< Gradients overflowed: no update was published.
};

/// Bytes of training data a rank sends in a step. all_reduce, reduce_scatter, all_gather and
/// broadcast stand for predicted_sent_elements (collectives/closed_forms.h) of the plan for it, of
/// a vector of so many elements.
///   gradients   per reduction (g or 1 of them): w times, for each bucket, all_reduce(elements) or
///               reduce_scatter(N sum(k_u)), with R > 1 also all_reduce(sum(k_u)) over R
///   gathers     b all_gather(N sum(k_u)) for each all_gather of units u (gather_plan.h)
///   update      b all_gather(N sum(k_u)) where shards are published, of all units or the
///   persistent
///               ones; b broadcast(P_t) for each tensor that is broadcast
std::uint64_t predicted_sent_bytes(const TrainingRank& rank, StepKind kind);

/// The most a rank ever holds: states, inputs and buffers that stay, and at the worst moment of a
/// step activations, gathered parameters and communication buffers. peak.cpp lists the moments.
std::uint64_t predicted_peak_bytes(const TrainingRank& rank);

}  // namespace shardscope
