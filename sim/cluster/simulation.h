// One strategy of a scenario, run on the simulated cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/sources.h"
#include "core/tensor/tensor.h"
#include "core/training/strategy.h"
#include "core/training/training_state.h"
#include "sim/cluster/recorded_steps.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

class RunResult;

struct SimulationOptions {
  /// Threads that compute ranks' arithmetic side by side; no result depends on it.
  int threads = 1;

  /// Steps whose every operation comes with the result.
  RecordedSteps recorded = {};

  /// A saved state to go on from, of fewer steps than the scenario has. Null: from the weights.
  const StateSource* resumed = nullptr;

  /// Writes a checkpoint when one is due (scenario.checkpoint): what each rank owns, by rank; not
  /// called if shape-only. Gives the reason if it cannot be written, which ends the run as failed.
  std::function<std::optional<std::string>(const TrainingProgress& progress,
                                           const std::vector<std::vector<OwnedState>>& owned)>
      on_checkpoint;

  /// Called as ranks reach the end of step t of `scenario.training.steps`. May be empty.
  std::function<void(std::int64_t t)> on_step;

  /// Gets the final fp32 weights piece by piece, in torch order, if the run completes and is not
  /// shape-only. May be empty.
  std::function<void(Tensor)> on_weights;
};

/// Runs the simulation and returns what it measured. A simulated out-of-memory is a result.
/// `batches` may be null if the scenario is shape-only.
/// Call once per process: SimGrid's engine does not start twice.
RunResult simulate(const Scenario& scenario, const Strategy& strategy, const WeightSource& weights,
                   const BatchSource* batches, const SimulationOptions& options);

}  // namespace shardscope
