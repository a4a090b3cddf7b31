// Every strategy under every algorithm of its collectives: what it holds and sends is the closed
// form, and it trains alike.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/data/synthetic.h"
#include "core/training/formulas.h"
#include "tests/core/support/plans.h"
#include "tests/core/support/random_problem.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

constexpr int kWorldSizes[] = {2, 3, 4, 6, 8};

// Integers from -3 to 3.
void fill(std::size_t seed, std::size_t first, Tensor out) {
  for (std::size_t i = 0; i < out.count; ++i) {
    out.fp32()[i] = static_cast<float>(splitmix64(seed, first + i) % 7) - 3.0F;
  }
}

class IntegerWeights final : public WeightSource {
 public:
  void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const override {
    fill(2 * layer + (which == LayerTensor::bias ? 1 : 0), first, out);
  }
};

class IntegerBatches final : public BatchSource {
 public:
  explicit IntegerBatches(const ModelSpec& model) : model_(model) {}

  void read(std::size_t step, std::size_t first_row, std::size_t /*rows*/, Tensor x,
            Tensor y) const override {
    fill(100 + 2 * step, first_row * model_.input_width(), x);
    fill(101 + 2 * step, first_row * model_.output_width(), y);
  }

 private:
  const ModelSpec& model_;
};

void check_figures(const TrainingRun& run, const Strategy& strategy, const ModelSpec& model,
                   const TrainingOptions& options, const CollectivePlanner& planner) {
  const auto world = static_cast<int>(run.ranks.size());
  for (int r = 0; r < world; ++r) {
    const RankRecord& rank = run.ranks[static_cast<std::size_t>(r)];
    const TrainingRank place{strategy, model, options, world, r, &planner};
    for (std::size_t step = 0; step < options.steps; ++step) {
      EXPECT_EQ(rank.sent_bytes[step],
                predicted_sent_bytes(place,
                                     {.is_first = step == 0, .skipped = run.updates[step].skipped}))
          << "rank " << r << ", step " << step;
    }
    EXPECT_EQ(rank.peak_total, predicted_peak_bytes(place)) << "rank " << r;
    EXPECT_EQ(rank.held_at_the_end, 0U) << "rank " << r;
  }
}

// Rows of integers and an output that a power of two divides: every gradient is a small dyadic
// number, the sum over ranks exact, and so the first update and the loss after it the same bits.
TEST(Algorithms, TrainAlikeAndAsPredicted) {
  const ModelSpec model{{5, 7, 4}, Activation::relu, Loss::mse};
  const IntegerWeights weights;
  const IntegerBatches batches(model);
  for (const int world : kWorldSizes) {
    TrainingOptions options;
    options.steps = 2;
    options.global_batch = static_cast<std::size_t>(world);
    for (const Strategy& strategy : small_strategies()) {
      std::vector<double> losses;  // By the ring.
      for (const Algorithm algorithm : kAlgorithms) {
        SCOPED_TRACE(std::string(strategy.name) + ", " + std::string(name(algorithm)) + ", world " +
                     std::to_string(world));
        const AlgorithmPlanner planner(algorithm);
        const TrainingRun run = train(strategy, model, options, world, weights, batches,
                                      RunCollectives::when_enqueued, planner);
        check_figures(run, strategy, model, options, planner);
        losses = losses.empty() ? run.losses : losses;
        EXPECT_EQ(run.losses, losses);
      }
    }
  }
}

// With options, types and plans drawn from the seed; another plan for every group and size.
class DrawnPlanner final : public CollectivePlanner {
 public:
  explicit DrawnPlanner(std::uint64_t seed) : seed_(seed) {}

  std::shared_ptr<const CollectivePlan> plan(Operation operation, const RankGroup& group,
                                             std::uint64_t bytes) const override {
    const auto operations = static_cast<std::uint64_t>(operation);
    return random_plan(group.size, seed_ + 10 * bytes + operations +
                                       1000 * static_cast<std::uint64_t>(group.stride))
        .plan;
  }

 private:
  std::uint64_t seed_;
};

TEST(Algorithms, DrawnForEachCollectiveSendAndHoldWhatIsPredicted) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomProblem problem(seed);
    problem.options.storage = Storage::shape_only;
    const DrawnPlanner planner(seed);
    const SyntheticWeights weights(problem.model, seed);
    const SyntheticBatches batches(problem.model, seed, problem.options.global_batch);
    for (const Strategy& strategy : random_strategies(seed)) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + problem.text());
      const TrainingRun run = train(strategy, problem.model, problem.options, problem.world_size,
                                    weights, batches, RunCollectives::when_enqueued, planner);
      check_figures(run, strategy, problem.model, problem.options, planner);
    }
  }
}

// But under trees, which sum an all_reduce otherwise than a reduce_scatter.
TEST(Algorithms, StrategiesSumAlikeUnderEachThatReduceScatters) {
  const ModelSpec model{{5, 7, 3}, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 2);
  for (const int world : kWorldSizes) {
    TrainingOptions options;
    options.steps = 3;
    options.global_batch = 3 * static_cast<std::size_t>(world);
    const SyntheticBatches batches(model, 2, options.global_batch);
    for (const Algorithm algorithm : kAlgorithms) {
      if (algorithm == Algorithm::double_tree) {
        continue;
      }
      SCOPED_TRACE(std::string(name(algorithm)) + ", world " + std::to_string(world));
      const AlgorithmPlanner planner(algorithm);
      const auto run = [&](const char* strategy) {
        return train(*find_strategy(strategy), model, options, world, weights, batches,
                     RunCollectives::when_enqueued, planner);
      };
      const TrainingRun ddp = run("DDP");
      expect_same_weights(run("NAIVE_ZERO"), ddp);
      expect_same_weights(run("ZERO1"), ddp);
      expect_same_weights(run("ZERO3"), run("ZERO2"));
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
