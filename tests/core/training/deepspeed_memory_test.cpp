// Why stage 2 was not smaller than stage 1 (DeepSpeed#1302): 340 million parameters on four ranks
// in a half type.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

constexpr int kRanks = 4;

const ModelSpec& model() {
  static const ModelSpec bert_large{std::vector<std::size_t>(325, 1024), Activation::relu,
                                    Loss::mse};
  return bert_large;
}

RankRecord fullest_rank(const Strategy& strategy) {
  TrainingOptions options;
  options.steps = 2;
  options.global_batch = kRanks;
  options.precision = DType::bf16;
  options.reduce_precision = DType::bf16;
  options.storage = Storage::shape_only;
  const SyntheticWeights weights(model(), 1);
  const SyntheticBatches batches(model(), 1, options.global_batch);
  const TrainingRun run = train(strategy, model(), options, kRanks, weights, batches);
  return *std::max_element(
      run.ranks.begin(), run.ranks.end(),
      [](const RankRecord& a, const RankRecord& b) { return a.peak_total < b.peak_total; });
}

double state_gigabytes(const RankRecord& rank) {
  const CategoryBytes& bytes = rank.state_after_initialization;
  return static_cast<double>(std::accumulate(bytes.begin(), bytes.begin() + kStateCategoryCount,
                                             std::uint64_t{0})) /
         1e9;
}

TEST(DeepSpeedMemory, OfStage2WasNotBelowThatOfStage1) {
  ASSERT_NEAR(static_cast<double>(model().parameters()), 340e6, 0.1e6);
  Strategy old_stage1 = *find_strategy("DEEPSPEED_STAGE1");
  old_stage1.reduction.contiguous_buffers = 0;
  const RankRecord stage1 = fullest_rank(old_stage1);
  const RankRecord stage2 = fullest_rank(*find_strategy("DEEPSPEED_STAGE2"));
  EXPECT_NEAR(state_gigabytes(stage1), 2.38, 0.005);
  EXPECT_NEAR(state_gigabytes(stage2), 1.87, 0.005);
  EXPECT_GE(stage2.peak_total, stage1.peak_total);
  std::printf("peaks: stage 1 %.2f GB, stage 2 %.2f GB\n",
              static_cast<double>(stage1.peak_total) / 1e9,
              static_cast<double>(stage2.peak_total) / 1e9);
}

// With the buffer at both stages what is left is the gradients that stage 2 shards.
TEST(DeepSpeedMemory, OfStage2IsBelowThatOfStage1ByItsGradients) {
  const RankRecord stage1 = fullest_rank(*find_strategy("DEEPSPEED_STAGE1"));
  const RankRecord stage2 = fullest_rank(*find_strategy("DEEPSPEED_STAGE2"));
  EXPECT_EQ(stage1.peak_total - stage2.peak_total, model().parameters() * 3 / 2);
}

}  // namespace
}  // namespace shardscope::testing
