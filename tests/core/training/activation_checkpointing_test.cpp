// Recomputation costs flops and gathers, saves activations, and changes no number.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/random_problem.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

// Of a rank in all steps; multiples of 1, so that the sum is exact.
double flops(const RankRecord& rank) {
  double sum = 0;
  for (const DeviceEvent& event : rank.events) {
    sum += event.flops;
  }
  return sum;
}

double forward_flops(const ModelSpec& model, std::size_t rows) {
  double sum = 0;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const bool is_last = l + 1 == model.layer_count();
    sum += linear_forward_cost(model.layer(l), rows, !is_last, DType::fp32).flops;
  }
  return sum;
}

TEST(ActivationCheckpointing, ChangesNoWeightAndAddsOneForward) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RandomProblem problem(seed);
    problem.world_size = 1 + static_cast<int>(seed % 4);
    TrainingOptions& options = problem.options;
    options.global_batch = 2 * options.micro_batches * static_cast<std::size_t>(problem.world_size);
    const SyntheticWeights weights(problem.model, seed);
    const SyntheticBatches batches(problem.model, seed, options.global_batch);
    const std::size_t forwards = options.steps * options.micro_batches;
    const double one_forward = forward_flops(problem.model, 2);
    for (const Strategy& strategy : random_strategies(seed)) {
      const auto run = [&](std::size_t every) {
        options.activation_checkpointing = every;
        return train(strategy, problem.model, options, problem.world_size, weights, batches);
      };
      const TrainingRun kept = run(0);
      for (std::size_t every = 1; every <= problem.model.layer_count() + 1; ++every) {
        SCOPED_TRACE(std::string(strategy.name) + ", " + problem.text());
        const TrainingRun recomputed = run(every);
        expect_same_weights(recomputed, kept);
        EXPECT_EQ(recomputed.losses, kept.losses);
        for (std::size_t r = 0; r < kept.ranks.size(); ++r) {
          EXPECT_EQ(flops(recomputed.ranks[r]) - flops(kept.ranks[r]),
                    static_cast<double>(forwards) * one_forward);
        }
      }
    }
  }
}

// Layers of 4, 9, 16 and 25 elements, padded for two ranks, each gathered for every pass; but the
// layer that was recomputed last is there for its backward.
TEST(ActivationCheckpointing, GathersWhatIsRecomputed) {
  const ModelSpec model{{1, 2, 3, 4, 5}, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, 2);
  const auto collectives = [&](std::size_t every) {
    TrainingOptions options;
    options.steps = 1;
    options.global_batch = 2;
    options.activation_checkpointing = every;
    std::vector<std::pair<std::string, std::size_t>> all;
    const TrainingRun run = train(*find_strategy("ZERO3"), model, options, 2, weights, batches);
    for (const DeviceEvent& event : run.ranks[1].events) {
      if (event.what == "all_gather" || event.what == "reduce_scatter") {
        all.emplace_back(event.what == "all_gather" ? "gather" : "reduce", event.count);
      }
    }
    return all;
  };
  using All = std::vector<std::pair<std::string, std::size_t>>;
  EXPECT_EQ(collectives(0), (All{{"gather", 4},
                                 {"gather", 10},
                                 {"gather", 16},
                                 {"gather", 26},
                                 {"gather", 26},
                                 {"reduce", 26},
                                 {"gather", 16},
                                 {"reduce", 16},
                                 {"gather", 10},
                                 {"reduce", 10},
                                 {"gather", 4},
                                 {"reduce", 4}}));
  EXPECT_EQ(collectives(1), collectives(0));
  EXPECT_EQ(collectives(2), (All{{"gather", 4},
                                 {"gather", 10},
                                 {"gather", 16},
                                 {"gather", 26},
                                 {"gather", 16},
                                 {"gather", 26},
                                 {"reduce", 26},
                                 {"gather", 16},
                                 {"reduce", 16},
                                 {"gather", 4},
                                 {"gather", 10},
                                 {"reduce", 10},
                                 {"gather", 4},
                                 {"reduce", 4}}));
}

// Eight layers of one width; a is the bytes of an output. Held at the worst moment:
//   0, 1  all 8 outputs and the gradient of the last
//   2     outputs 1, 3, 5, the recomputed 6 and 7 and the gradient of 7
//   3     outputs 2 and 5 when 6 and 7, or 2 when 3 to 5 are computed again, and a gradient
//   4     output 3 when 4 to 7 are computed again, and a gradient
//   k > 4 outputs 0 to k - 1 when they are computed again, and a gradient
TEST(ActivationCheckpointing, LowersThePeakOfActivations) {
  const ModelSpec model{std::vector<std::size_t>(9, 3), Activation::tanh, Loss::mse};
  TrainingOptions options;
  options.steps = 1;
  options.global_batch = 10;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  const std::uint64_t a = 5 * 3 * 4;
  const std::vector<std::uint64_t> peaks = {9, 9, 6, 5, 6, 6, 7, 8, 9, 9};
  for (const Strategy& strategy : small_strategies()) {
    for (std::size_t every = 0; every < peaks.size(); ++every) {
      options.activation_checkpointing = every;
      const TrainingRun run = train(strategy, model, options, 2, weights, batches);
      EXPECT_EQ(run.ranks[0].peak[static_cast<std::size_t>(Category::activations)],
                a * peaks[every])
          << strategy.name << ", every " << every;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
