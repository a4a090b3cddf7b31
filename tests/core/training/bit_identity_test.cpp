// Strategies that sum every gradient in the same order end with the same weights, bit for bit.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

// 43 and 66 parameters, 2 of a model smaller than its cluster, and three layers of 20, 9 and 4.
const std::vector<std::vector<std::size_t>>& models() {
  static const std::vector<std::vector<std::size_t>> widths = {
      {4, 5, 3}, {5, 7, 3}, {1, 1}, {4, 4, 1, 2}};
  return widths;
}

struct Precision {
  DType precision;
  DType reduce_precision;
};

constexpr Precision kPrecisions[] = {{DType::fp32, DType::fp32},
                                     {DType::bf16, DType::bf16},
                                     {DType::fp16, DType::fp16},
                                     {DType::bf16, DType::fp32}};

// Trains each of the strategies and compares it with the first.
void expect_identical(const std::vector<std::string>& strategies,
                      const std::vector<std::size_t>& widths, int world) {
  const ModelSpec model{widths, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 2);
  for (const Precision& precision : kPrecisions) {
    TrainingOptions options;
    options.steps = 5;
    options.global_batch = 3 * static_cast<std::size_t>(world);
    options.precision = precision.precision;
    options.reduce_precision = precision.reduce_precision;
    options.loss_scale = 16.0;
    const SyntheticBatches batches(model, 2, options.global_batch);
    const auto run = [&](const std::string& name) {
      return train(*find_strategy(name), model, options, world, weights, batches);
    };
    const TrainingRun first = run(strategies.front());
    for (std::size_t i = 1; i < strategies.size(); ++i) {
      SCOPED_TRACE(strategies[i] + " beside " + strategies.front() + ", " +
                   std::to_string(model.parameters()) + " parameters, world " +
                   std::to_string(world) + ", " + std::string(name(precision.precision)) +
                   " reduced in " + std::string(name(precision.reduce_precision)));
      expect_same_weights(run(strategies[i]), first);
    }
  }
}

void expect_identical_everywhere(const std::vector<std::string>& strategies) {
  for (const std::vector<std::size_t>& widths : models()) {
    for (int world = 1; world <= 9; ++world) {
      expect_identical(strategies, widths, world);
    }
  }
}

TEST(BitIdentity, DdpNaiveZeroAndZero1EndWithTheSameWeights) {
  expect_identical_everywhere({"DDP", "NAIVE_ZERO", "ZERO1"});
}

TEST(BitIdentity, Zero2AndZero3EndWithTheSameWeights) {
  expect_identical_everywhere({"ZERO2", "ZERO3"});
}

TEST(BitIdentity, TwoRunsEndWithTheSameWeights) {
  for (const Strategy& strategy : all_strategies()) {
    expect_identical({std::string(strategy.name), std::string(strategy.name)}, {5, 7, 3}, 8);
  }
}

}  // namespace
}  // namespace shardscope::testing
