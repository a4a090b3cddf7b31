// The longest chain through a recorded step against the step's measured time, and what re-timing
// predicts against the simulation of what it supposes.
#include "sim/critical_path/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/core/support/small_strategies.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

constexpr RecordedSteps kFinalStep{.final_step = true};

Scenario shapes(std::vector<std::size_t> widths, int world_size, std::size_t batch) {
  TrainingOptions training;
  training.steps = 2;
  training.global_batch = batch;
  training.precision = DType::bf16;
  training.reduce_precision = DType::bf16;
  training.storage = Storage::shape_only;
  return make_scenario(ModelSpec{std::move(widths)}, training, world_size);
}

double relative_error(double value, double expected) {
  return std::abs(value - expected) / std::abs(expected);
}

double sum(const std::vector<PathShare>& shares) {
  double seconds = 0;
  for (const PathShare& share : shares) {
    seconds += share.seconds;
  }
  return seconds;
}

// What must hold of every path.
void check_path(const RunResult& run) {
  const std::optional<CriticalPath> path = critical_path(run);
  ASSERT_TRUE(path.has_value());
  const StepResult& last = run.steps(run.steps_size() - 1);
  EXPECT_EQ(path->step, last.step());
  EXPECT_EQ(path->rank, last.last_rank());
  const double wall_s = last.time().wall_s();
  EXPECT_NEAR(path->length_s, wall_s, 1e-9 * wall_s);
  EXPECT_NEAR(sum(path->phases), path->length_s, 1e-9 * wall_s);
  EXPECT_NEAR(sum(path->layers), path->length_s, 1e-9 * wall_s);
  EXPECT_NEAR(sum(path->links), path->length_s, 1e-9 * wall_s);
  ASSERT_EQ(path->what_ifs.size(), 4U);
  for (const WhatIf& what_if : path->what_ifs) {
    EXPECT_LE(what_if.wall_s, wall_s * (1 + 1e-9)) << what_if.name;
    EXPECT_GE(what_if.wall_s, 0) << what_if.name;
  }
}

TEST(CriticalPath, IsAsLongAsTheStep) {
  for (const int world : {1, 2, 3, 4, 8, 16}) {
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const Scenario scenario = shapes({13, 29, 7, 3}, world, 48);
      check_path(run_simulation(scenario, strategy, 1, kFinalStep));
    }
  }
}

TEST(CriticalPath, OfRandomScenariosIsAsLongAsTheStep) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 10 : 40); ++seed) {
    RandomScenario random(seed);
    random.scenario.training.storage = Storage::shape_only;
    for (const Strategy& strategy : random_strategies(seed)) {
      SCOPED_TRACE(std::string(strategy.name) + ", seed " + std::to_string(seed) + ": " +
                   random.text);
      check_path(run_simulation(random.scenario, strategy, 1, kFinalStep));
    }
  }
}

// One rank computes and nothing else; its path is the kernels one after another.
TEST(CriticalPath, OfOneRankIsItsKernels) {
  const RunResult run =
      run_simulation(shapes({8, 16, 4}, 1, 8), *find_strategy("DDP"), 1, kFinalStep);
  const std::optional<CriticalPath> path = critical_path(run);
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->links.size(), 1U);
  EXPECT_EQ(path->links.front().name, "");
  EXPECT_NEAR(path->what_ifs[0].wall_s, path->length_s, 1e-15) << "communication is free already";
}

struct Supposition {
  const char* name;
  std::function<void(Scenario&)> apply;
};

const std::vector<Supposition>& suppositions() {
  static const std::vector<Supposition> all = {
      {"communication_free",
       [](Scenario& scenario) {
         link_of(scenario).bandwidth_bytes_per_s = 1e30;
         link_of(scenario).latency_s = 0;
       }},
      {"bandwidth_doubled",
       [](Scenario& scenario) { link_of(scenario).bandwidth_bytes_per_s *= 2; }},
      {"latency_zero", [](Scenario& scenario) { link_of(scenario).latency_s = 0; }},
      {"device_doubled", [](Scenario& scenario) {
         scenario.device.peak_flops_per_s *= 2;
         scenario.device.memory_bandwidth_bytes_per_s *= 2;
       }}};
  return all;
}

// The largest relative error.
double expect_what_ifs(const Scenario& scenario) {
  double worst = 0;
  for (const Strategy& strategy : small_strategies()) {
    const auto path = critical_path(run_simulation(scenario, strategy, 1, kFinalStep));
    EXPECT_TRUE(path.has_value());
    for (std::size_t i = 0; i < suppositions().size(); ++i) {
      Scenario supposed = scenario;
      suppositions()[i].apply(supposed);
      const RunResult run = run_simulation(supposed, strategy);
      const double simulated_s = run.steps(run.steps_size() - 1).time().wall_s();
      EXPECT_EQ(path->what_ifs[i].name, suppositions()[i].name);
      const double error = relative_error(path->what_ifs[i].wall_s, simulated_s);
      EXPECT_LE(error, 0.02) << suppositions()[i].name << ", " << strategy.name;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

TEST(WhatIfs, AreWhatTheirSimulationGives) {
  std::vector<Scenario> scenarios = {shapes({128, 512, 512, 128}, 8, 64),
                                     shapes({64, 256, 64}, 4, 64), shapes({33, 70, 51, 5}, 3, 12)};
  link_of(scenarios[1]).latency_s = 1e-4;
  link_of(scenarios[2]).bandwidth_bytes_per_s = 1e8;
  scenarios.push_back(scenarios[1]);  // Saving takes as long whatever else is faster.
  scenarios.back().checkpoint = {
      .directory = "", .every_steps = 1, .keep = 1, .bandwidth_bytes_per_s = 1e8};
  double worst = 0;
  for (const Scenario& scenario : scenarios) {
    worst = std::max(worst, expect_what_ifs(scenario));
  }
  std::printf("furthest from the simulation: %.1e relative\n", worst);
}

// Ranks that begin a step at different times, because a ring's last chunk is short or empty, begin
// it at others where messages are faster.
TEST(WhatIfs, MoveTheBeginsOfTheRanksToo) {
  TrainingOptions training;
  training.steps = 3;
  training.global_batch = 28;
  training.storage = Storage::shape_only;
  for (const auto& widths : {std::vector<std::size_t>{2, 1}, std::vector<std::size_t>{3, 2, 3}}) {
    for (const int world : {4, 7}) {
      Scenario scenario = make_scenario(ModelSpec{widths}, training, world);
      link_of(scenario) = network_cable(1e5, 1e-3);
      expect_what_ifs(scenario);
    }
  }
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 3 : 7); ++seed) {
    RandomScenario random(seed);
    random.scenario.training.storage = Storage::shape_only;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + random.text);
    expect_what_ifs(random.scenario);
  }
}

TEST(CriticalPath, IsMissingWhereNothingWasRecorded) {
  EXPECT_FALSE(critical_path(run_simulation(shapes({8, 4}, 2, 4), *find_strategy("DDP"))));
}

}  // namespace
}  // namespace shardscope::testing
