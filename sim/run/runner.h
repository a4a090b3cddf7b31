// Runs one strategy of a scenario in a child process.
#pragma once

#include <optional>
#include <string>

#include "core/training/strategy.h"
#include "core/training/training_state.h"
#include "sim/cluster/recorded_steps.h"
#include "sim/run/sources.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

class RunResult;

struct RunOptions {
  int threads = 1;  ///< As SimulationOptions.

  RecordedSteps recorded = {};  ///< As SimulationOptions.

  /// An existing folder for the final weights, <folder>/<STRATEGY>.safetensors.
  std::optional<std::string> save_weights;

  /// A saved state to go on from.
  const StateSource* resumed = nullptr;

  /// What writes checkpoints: "shardscope 0.1.0". If empty they take their time and are not
  /// written.
  std::string program;

  bool show_progress = false;  ///< A line on standard error that is rewritten.
};

/// Where RunOptions.save_weights puts a strategy's weights.
std::string weights_path(const std::string& folder, const Strategy& strategy);

/// The work of such a child. Call once per process.
RunResult simulate_strategy(const Scenario& scenario, const Strategy& strategy,
                            const Sources& sources, const RunOptions& options);

/// A child that ends without a result is a result too, of outcome "failed", with the reason.
RunResult run_strategy(const Scenario& scenario, const Strategy& strategy, const Sources& sources,
                       const RunOptions& options);

}  // namespace shardscope
