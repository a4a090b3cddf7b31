// Scenarios made in code, run on the simulated cluster, each in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "core/training/strategy.h"
#include "sim/cluster/recorded_steps.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope::testing {

/// Trains on synthetic weights and batches of seed 1, on roomy devices and a 10 Gb/s network.
Scenario make_scenario(const ModelSpec& model, const TrainingOptions& training, int world_size);

/// A small scenario that is a function of its seed: layers that ranks may not divide, ranks that
/// may outnumber a layer's parameters, fast and slow devices and networks.
struct RandomScenario {
  explicit RandomScenario(std::uint64_t seed);

  Scenario scenario;
  std::string text;  ///< Every option that was drawn.
};

/// The result; a run that dies fails the test.
RunResult run_simulation(const Scenario& scenario, const Strategy& strategy, int threads = 1,
                         const RecordedSteps& recorded = {});

}  // namespace shardscope::testing
