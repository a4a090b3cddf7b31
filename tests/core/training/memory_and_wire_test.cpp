// What ranks hold and send, measured, against the closed forms; bytes, not tolerances.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "core/data/synthetic.h"
#include "core/training/formulas.h"
#include "tests/core/support/random_problem.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

CategoryBytes states_of(CategoryBytes bytes) {
  std::fill(bytes.begin() + kStateCategoryCount, bytes.end(), 0);
  return bytes;
}

CategoryBytes without_states(CategoryBytes bytes) {
  std::fill(bytes.begin(), bytes.begin() + kStateCategoryCount, 0);
  return bytes;
}

void check_memory(const TrainingRun& run, const Strategy& strategy, const RandomProblem& problem) {
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const RankRecord& rank = run.ranks[r];
    const TrainingRank place{strategy, problem.model, problem.options, problem.world_size,
                             static_cast<int>(r)};
    const CategoryBytes predicted = predicted_state_bytes(place);
    EXPECT_EQ(states_of(rank.state_after_initialization), predicted) << "rank " << r;
    EXPECT_EQ(states_of(rank.held_after_step), predicted) << "rank " << r;
    // Between steps there is what there was before the first.
    EXPECT_EQ(without_states(rank.held_after_step), without_states(rank.state_after_initialization))
        << "rank " << r;
    EXPECT_EQ(rank.peak_total, predicted_peak_bytes(place)) << "rank " << r;
    EXPECT_LE(rank.peak_total,
              std::accumulate(rank.peak.begin(), rank.peak.end(), std::uint64_t{0}));
    EXPECT_EQ(rank.held_at_the_end, 0U) << "rank " << r;
  }
}

void check_wire(const TrainingRun& run, const Strategy& strategy, const RandomProblem& problem) {
  for (std::size_t step = 0; step < problem.options.steps; ++step) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int r = 0; r < problem.world_size; ++r) {
      const RankRecord& rank = run.ranks[static_cast<std::size_t>(r)];
      EXPECT_EQ(
          rank.sent_bytes[step],
          predicted_sent_bytes({strategy, problem.model, problem.options, problem.world_size, r},
                               {.is_first = step == 0, .skipped = run.updates[step].skipped}))
          << "rank " << r << ", step " << step;
      sent += rank.sent_bytes[step];
      received += rank.received_bytes[step];
    }
    EXPECT_EQ(sent, received) << "step " << step;
  }
}

TEST(MemoryAndWire, AreTheClosedFormsToTheByte) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomProblem problem(seed);
    for (const Storage storage : {Storage::real, Storage::shape_only}) {
      problem.options.storage = storage;
      const SyntheticWeights weights(problem.model, seed);
      const SyntheticBatches batches(problem.model, seed, problem.options.global_batch);
      for (const Strategy& strategy : random_strategies(seed)) {
        SCOPED_TRACE(std::string(strategy.name) + ", " + problem.text());
        const TrainingRun run =
            train(strategy, problem.model, problem.options, problem.world_size, weights, batches);
        check_memory(run, strategy, problem);
        check_wire(run, strategy, problem);
      }
    }
  }
}

// Where all ranks hold something of everything the wire is that of the papers' tables:
// ddp, zero1 and zero2 2 c P elements, naive_zero and zero3 3 c P, with c = (N-1)/N.
TEST(MemoryAndWire, AreThePapersMultiplesWhereRanksDivideEveryLayer) {
  const ModelSpec model{{8, 16, 24}, Activation::relu, Loss::mse};
  const std::uint64_t parameters = model.parameters();
  for (const int world : {2, 4, 8}) {
    const auto n = static_cast<std::uint64_t>(world);
    const std::uint64_t once = (n - 1) * (parameters / n) * 2;
    for (int rank = 0; rank < world; ++rank) {
      const auto sent = [&](const char* strategy) {
        TrainingOptions options;
        options.precision = DType::bf16;
        options.reduce_precision = DType::bf16;
        return predicted_sent_bytes({*find_strategy(strategy), model, options, world, rank}, {});
      };
      EXPECT_EQ(sent("DDP"), 2 * once);
      EXPECT_EQ(sent("NAIVE_ZERO"), 3 * once);
      EXPECT_EQ(sent("ZERO1"), 2 * once);
      EXPECT_EQ(sent("ZERO2"), 2 * once);
      EXPECT_EQ(sent("ZERO3"), 3 * once);
    }
  }
}

// Gradients reduced in fp32 take twice the bytes of bf16 ones; parameters still travel in bf16.
TEST(MemoryAndWire, CountReducePrecisionOnGradientsAlone) {
  const ModelSpec model{{8, 16, 24}, Activation::relu, Loss::mse};
  for (const Strategy& strategy : paper_strategies()) {
    SCOPED_TRACE(std::string(strategy.name));
    const auto sent = [&](DType precision, DType reduce_precision) {
      TrainingOptions options;
      options.precision = precision;
      options.reduce_precision = reduce_precision;
      return predicted_sent_bytes({strategy, model, options, 8, 0}, {});
    };
    const std::uint64_t once = 7 * (model.parameters() / 8);
    const bool all_reduce = strategy.name == "DDP" || strategy.name == "NAIVE_ZERO";
    EXPECT_EQ(sent(DType::bf16, DType::fp32) - sent(DType::bf16, DType::bf16),
              (all_reduce ? 2 : 1) * 2 * once);
    EXPECT_EQ(sent(DType::fp32, DType::fp32), 2 * sent(DType::bf16, DType::bf16));
  }
}

// The copy of the gradients in another type is of what is reduced: P elements for an all_reduce,
// the padded N k for a reduce_scatter. Beside it lie the staging chunk and, where gradients are not
// kept whole, the gradient that was copied.
TEST(MemoryAndWire, CopyInReducePrecisionJustWhatIsReduced) {
  const ModelSpec model{{1, 1}, Activation::relu, Loss::mse};  // P = 2, k = 1, N k = 3
  TrainingOptions options;
  options.steps = 1;
  options.global_batch = 3;
  options.precision = DType::bf16;
  options.reduce_precision = DType::fp32;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  const auto peak = [&](const char* strategy) {
    const TrainingRun run = train(*find_strategy(strategy), model, options, 3, weights, batches);
    return run.ranks.front().peak[static_cast<std::size_t>(Category::communication_buckets)];
  };
  EXPECT_EQ(peak("DDP"), 4U * 2 + 4);
  EXPECT_EQ(peak("NAIVE_ZERO"), 4U * 2 + 4);
  EXPECT_EQ(peak("ZERO1"), 4U * 3 + 4);
  EXPECT_EQ(peak("ZERO2"), 2U * 3 + 4 * 3 + 4);
}

}  // namespace
}  // namespace shardscope::testing
