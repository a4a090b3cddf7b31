// When a collective runs is a matter of time, not of numbers.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/random_problem.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

RandomProblem random_problem(std::uint64_t seed, int world) {
  RandomProblem problem(seed);
  problem.world_size = world;
  problem.options.steps = 3;
  problem.options.precision = static_cast<DType>(seed % 3);
  problem.options.global_batch =
      2 * problem.options.micro_batches * static_cast<std::size_t>(world);
  return problem;
}

// Whether collectives run as early or as late as they may, reductions are waited for at once or
// not, and however many are under way: the same weights.
TEST(Overlap, ChangesNoBitOfAnyWeight) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (int world = 1; world <= 5; ++world) {
      const RandomProblem problem = random_problem(seed, world);
      const SyntheticWeights weights(problem.model, seed);
      const SyntheticBatches batches(problem.model, seed, problem.options.global_batch);
      for (const Strategy& strategy : random_strategies(seed)) {
        SCOPED_TRACE(std::string(strategy.name) + ", " + problem.text());
        const auto run = [&](const Strategy& variant, RunCollectives when) {
          return train(variant, problem.model, problem.options, world, weights, batches, when);
        };
        const TrainingRun expected = run(strategy, RunCollectives::when_enqueued);
        expect_same_weights(run(strategy, RunCollectives::when_waited_for), expected);
        if (!has_overlap(strategy)) {
          continue;
        }
        for (const bool overlap : {false, true}) {
          Strategy variant = strategy;
          set_overlap(variant, overlap);
          expect_same_weights(run(variant, RunCollectives::when_waited_for), expected);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
