#include "tests/sim/simulated.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <sstream>

#include "core/data/generator.h"
#include "core/data/synthetic.h"
#include "sim/cluster/simulation.h"
#include "sim/process/child.h"
#include "tests/core/support/random_problem.h"
#include "tests/sim/star.h"

namespace shardscope::testing {

Scenario make_scenario(const ModelSpec& model, const TrainingOptions& training, int world_size) {
  Scenario scenario;
  scenario.name = "test";
  scenario.model = model;
  scenario.training = training;
  scenario.world_size = world_size;
  scenario.device = {.preset = "",
                     .memory_bytes = std::uint64_t{1} << 40,
                     .peak_flops_per_s = 25e9,
                     .memory_bandwidth_bytes_per_s = 20e9,
                     .compute_efficiency = 1,
                     .memory_efficiency = 1,
                     .launch_overhead_s = 5e-6};
  scenario.cluster = star(world_size, network_cable(1.25e9, 5e-6));
  return scenario;
}

RandomScenario::RandomScenario(std::uint64_t seed) {
  const RandomProblem problem(seed);
  scenario = make_scenario(problem.model, problem.options, problem.world_size);
  std::uint64_t draws = 0;
  const auto draw_from = [&](auto values) {
    return values[splitmix64(~seed, draws++) % values.size()];
  };
  DeviceSpec& device = scenario.device;
  device.peak_flops_per_s = draw_from(std::array{1e6, 25e9, 312e12});
  device.memory_bandwidth_bytes_per_s = draw_from(std::array{1e5, 20e9, 2e12});
  device.compute_efficiency = draw_from(std::array{1.0, 0.5});
  device.memory_efficiency = draw_from(std::array{1.0, 0.8});
  device.launch_overhead_s = draw_from(std::array{0.0, 5e-6, 1e-2});
  CableSpec& link = link_of(scenario);
  link.bandwidth_bytes_per_s = draw_from(std::array{125.0, 1.25e9, 9e11});
  link.latency_s = draw_from(std::array{0.0, 2e-10, 5e-6, 1e-2});

  std::ostringstream out;
  out << problem.text() << ", " << device.peak_flops_per_s << " f/s x " << device.compute_efficiency
      << ", " << device.memory_bandwidth_bytes_per_s << " B/s x " << device.memory_efficiency
      << ", launch " << device.launch_overhead_s << " s, links " << link.bandwidth_bytes_per_s
      << " B/s " << link.latency_s << " s";
  text = out.str();
}

RunResult run_simulation(const Scenario& scenario, const Strategy& strategy, int threads,
                         const RecordedSteps& recorded) {
  const SyntheticWeights weights(scenario.model, scenario.seed);
  std::optional<SyntheticBatches> batches;
  if (scenario.training.storage == Storage::real) {
    batches.emplace(scenario.model, scenario.seed, scenario.training.global_batch);
  }
  SimulationOptions options;
  options.threads = threads;
  options.recorded = recorded;
  const ChildResult child = run_in_child([&] {
    return simulate(scenario, strategy, weights, batches.has_value() ? &*batches : nullptr, options)
        .SerializeAsString();
  });
  EXPECT_TRUE(child.ok) << child.failure;
  RunResult result;
  EXPECT_TRUE(result.ParseFromString(child.output));
  return result;
}

}  // namespace shardscope::testing
