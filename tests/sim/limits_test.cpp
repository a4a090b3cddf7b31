// What is said to limit a step on the wire, against the rounds of its rings counted by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/nn/model.h"
#include "tests/sim/simulated.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

constexpr std::size_t kSteps = 2;
constexpr double kPathLatency_s = 1e-5;

Scenario scenario_of(const ModelSpec& model, int world_size) {
  TrainingOptions training;
  training.steps = kSteps;
  training.global_batch = 192;
  training.precision = DType::bf16;
  training.reduce_precision = DType::bf16;
  training.storage = Storage::shape_only;
  return make_scenario(model, training, world_size);
}

// Rounds of rings with N - 1 rounds each that a step has, by strategy, for a model of `layers`.
struct Rings {
  const char* strategy;
  std::size_t of_model;
  std::size_t per_layer;
};

constexpr Rings kRings[] = {
    {"DDP", 2, 0}, {"NAIVE_ZERO", 3, 0}, {"ZERO1", 2, 0}, {"ZERO2", 1, 1}, {"ZERO3", 0, 3}};

void expect_latency_of_all_rounds(const ModelSpec& model, int world_size) {
  const Scenario scenario = scenario_of(model, world_size);
  const std::size_t layers = model.widths.size() - 1;
  for (const Rings& rings : kRings) {
    SCOPED_TRACE(std::string(rings.strategy) + " on " + std::to_string(world_size));
    const RunResult run = run_simulation(scenario, *find_strategy(rings.strategy));
    const std::size_t rounds = (rings.of_model + rings.per_layer * layers) *
                               static_cast<std::size_t>(world_size - 1) * kSteps;
    const double latency_s = static_cast<double>(rounds) * kPathLatency_s;
    // Chunks of one size take the bandwidth's part; where they differ, a few bytes a round do.
    EXPECT_NEAR(run.limits().wire_latency_s(), latency_s, 1e-3 * latency_s);
  }
}

TEST(WireLimits, AreTheRoundsWhereRanksDivideTheModel) {
  expect_latency_of_all_rounds(ModelSpec{{128, 512, 512, 128}}, 4);
}

TEST(WireLimits, AreTheRoundsWhereChunksAreShort) {
  expect_latency_of_all_rounds(ModelSpec{{5, 7, 3}}, 8);
}

// With two elements, ranks that a chunk has passed go on while it still travels: from the second
// step on it is not all rounds that take time, but what the last rank waits is still latency.
TEST(WireLimits, LatencyIsAllOfTheWaitWhereChunksAreEmpty) {
  for (const int world_size : {3, 8, 64}) {
    const Scenario scenario = scenario_of(ModelSpec{{1, 1}}, world_size);
    for (const Strategy& strategy : all_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + " on " + std::to_string(world_size));
      const RunResult run = run_simulation(scenario, strategy);
      double exposed_s = 0;
      for (const StepResult& step : run.steps()) {
        exposed_s += step.time().exposed_communication_s();
      }
      EXPECT_GT(exposed_s, static_cast<double>(world_size) * kPathLatency_s);
      EXPECT_NEAR(run.limits().wire_latency_s(), exposed_s, 1e-3 * exposed_s);
    }
  }
}

TEST(WireLimits, AreNoneWhereThereIsNoWire) {
  expect_latency_of_all_rounds(ModelSpec{{5, 7, 3}}, 1);
}

TEST(WireLimits, LatencyIsNoneWhereLinksHaveNone) {
  for (const int world_size : {3, 8}) {
    Scenario scenario = scenario_of(ModelSpec{{5, 7, 3}}, world_size);
    link_of(scenario).latency_s = 0;
    for (const Strategy& strategy : all_strategies()) {
      const RunResult run = run_simulation(scenario, strategy);
      EXPECT_EQ(run.limits().wire_latency_s(), 0) << strategy.name;
      EXPECT_GT(run.limits().wire_bandwidth_s(), 0) << strategy.name;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
