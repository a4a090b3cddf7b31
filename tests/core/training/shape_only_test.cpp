// A run without storage asks its device for the same work, in the same order, with the same memory.

#include <gtest/gtest.h>

#include <string>

#include "core/data/synthetic.h"
#include "tests/core/support/random_problem.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

TEST(ShapeOnly, DoesWhatARealRunDoes) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomProblem problem(seed);
    const SyntheticWeights weights(problem.model, seed);
    const SyntheticBatches batches(problem.model, seed, problem.options.global_batch);
    for (const Strategy& strategy : random_strategies(seed)) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + problem.text());
      const auto run = [&](Storage storage) {
        problem.options.storage = storage;
        return train(strategy, problem.model, problem.options, problem.world_size, weights,
                     batches);
      };
      const TrainingRun real = run(Storage::real);
      const TrainingRun shapes = run(Storage::shape_only);
      for (std::size_t r = 0; r < real.ranks.size(); ++r) {
        SCOPED_TRACE("rank " + std::to_string(r));
        const RankRecord& a = real.ranks[r];
        const RankRecord& b = shapes.ranks[r];
        ASSERT_EQ(a.events.size(), b.events.size());
        for (std::size_t i = 0; i < a.events.size(); ++i) {
          ASSERT_EQ(a.events[i], b.events[i]) << "event " << i;
        }
        EXPECT_EQ(a.peak, b.peak);
        EXPECT_EQ(a.peak_total, b.peak_total);
        EXPECT_EQ(a.sent_bytes, b.sent_bytes);
        EXPECT_EQ(a.received_bytes, b.received_bytes);
      }
      EXPECT_EQ(shapes.losses, std::vector<double>(problem.options.steps));
      EXPECT_EQ(shapes.gradient_norms, std::vector<double>(problem.options.steps));
    }
  }
}

// 16 bytes for each of 7 billion parameters, and not one of them allocated.
TEST(ShapeOnly, PlansAModelThatFitsNoMachine) {
  const ModelSpec model{{32768, 65536, 65536, 8192}, Activation::relu, Loss::mse};
  ASSERT_GT(model.parameters(), 6'900'000'000U);
  TrainingOptions options;
  options.steps = 1;
  options.global_batch = 64;
  options.precision = DType::bf16;
  options.reduce_precision = DType::bf16;
  options.storage = Storage::shape_only;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  for (const Strategy& strategy : all_strategies()) {
    const TrainingRun run = train(strategy, model, options, 4, weights, batches);
    EXPECT_GT(run.ranks[0].peak_total, 4 * model.parameters()) << strategy.name;
  }
}

}  // namespace
}  // namespace shardscope::testing
