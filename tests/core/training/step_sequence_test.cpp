// One step of each strategy, told by the collectives it starts: what, of how many elements, and the
// phase that waits. Two layers of 9 and 8 parameters on 2 ranks.

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

struct Step {
  std::string collective;
  std::size_t count;
  Phase waits;

  friend bool operator==(const Step&, const Step&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << step.collective << " of " << step.count << ", waited for in " << name(step.waits);
  }
};

// 17 parameters in one unit are padded to 18; units of 9 and 8 to 10 and 8.
const std::map<std::string, std::vector<Step>>& sequences() {
  using enum Phase;
  static const std::map<std::string, std::vector<Step>> all = {
      {"DDP", {{"all_reduce", 17, backward}}},
      {"NAIVE_ZERO", {{"all_reduce", 17, backward}, {"all_gather", 18, optimizer}}},
      {"ZERO1", {{"reduce_scatter", 18, backward}, {"all_gather", 18, optimizer}}},
      {"ZERO2",
       {{"reduce_scatter", 8, backward},
        {"reduce_scatter", 10, backward},
        {"all_gather", 18, optimizer}}},
      {"ZERO3",
       {{"all_gather", 10, forward},
        {"all_gather", 8, forward},
        {"all_gather", 8, backward},
        {"reduce_scatter", 8, backward},
        {"all_gather", 10, backward},
        {"reduce_scatter", 10, backward}}},
  };
  return all;
}

std::vector<Step> collectives(const std::vector<DeviceEvent>& events) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].what != "compute" && events[i].what != "wait") {
      EXPECT_EQ(events[i + 1].what, "wait") << "strategies wait at once";
      steps.push_back({events[i].what, events[i].count, events[i + 1].phase});
    }
  }
  return steps;
}

TEST(StepSequence, OfCollectivesIsThatOfThePapers) {
  const ModelSpec model{{2, 3, 2}, Activation::relu, Loss::mse};
  TrainingOptions options;
  options.steps = 1;
  options.global_batch = 2;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  ASSERT_EQ(sequences().size(), paper_strategies().size());
  for (const Strategy& strategy : paper_strategies()) {
    const TrainingRun run = train(strategy, model, options, 2, weights, batches);
    for (const RankRecord& rank : run.ranks) {
      EXPECT_EQ(collectives(rank.events), sequences().at(std::string(strategy.name)))
          << strategy.name;
    }
  }
}

// A shard is updated as a shard: Adam's cost is that of the elements a rank owns, padding included.
TEST(StepSequence, AdamCostsWhatARankOwns) {
  const ModelSpec model{{2, 3, 2}, Activation::relu, Loss::mse};
  TrainingOptions options;
  options.steps = 1;
  options.global_batch = 2;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  for (const Strategy& strategy : paper_strategies()) {
    const TrainingRun run = train(strategy, model, options, 2, weights, batches);
    const std::size_t owned = strategy.name == "DDP" ? 17 : 9;
    double flops = 0;
    for (const DeviceEvent& event : run.ranks[1].events) {
      flops += event.phase == Phase::optimizer ? event.flops : 0.0;
    }
    EXPECT_EQ(flops, adam_cost(owned, options.precision, options.precision).flops) << strategy.name;
  }
}

}  // namespace
}  // namespace shardscope::testing
