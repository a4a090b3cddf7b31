// Micro-steps of a batch are one step over the whole batch.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/comparison.h"
#include "tests/core/support/small_strategies.h"

namespace shardscope::testing {
namespace {

// The oracle's step is over as many parts as there are micro-batches on all ranks.
void expect_like_the_oracle(TrainingOptions options, const char* what) {
  const ModelSpec model{{13, 29, 7}, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 6);
  options.steps = 6;
  Worst worst;
  for (const int world : {1, 2, 3, 4}) {
    for (const std::size_t micro_batches : {2, 3, 4}) {
      const std::size_t parts = micro_batches * static_cast<std::size_t>(world);
      options.micro_batches = micro_batches;
      options.global_batch = 3 * parts;
      const SyntheticBatches batches(model, 6, options.global_batch);
      const OracleRun oracle = run_oracle(model, options, parts, weights, batches);
      std::vector<Strategy> strategies = random_strategies(parts);
      strategies.insert(strategies.end(), small_strategies().begin(), small_strategies().end());
      for (const Strategy& strategy : strategies) {
        SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world) + ", " +
                     std::to_string(micro_batches) + " micro-batches");
        const Worst error = compare(train(strategy, model, options, world, weights, batches),
                                    oracle, options.precision);
        check(error, options.precision, "the oracle");
        worst.take(error);
      }
    }
  }
  report(what, worst);
}

TEST(Accumulation, InFp32IsAStepOverTheWholeBatch) {
  TrainingOptions options;
  options.clip_norm = 0.3;
  expect_like_the_oracle(options, "oracle, fp32");
}

TEST(Accumulation, OfHalfGradientsInFp32IsAStepOverTheWholeBatch) {
  for (const DType precision : {DType::bf16, DType::fp16}) {
    TrainingOptions options;
    options.precision = precision;
    options.fp32_gradient_accumulation = true;
    options.loss_scale = 1024.0;
    expect_like_the_oracle(options, "oracle, accumulated in fp32");
  }
}

// Gradients that are kept in a half type are rounded to it after each micro-step.
TEST(Accumulation, InAHalfTypeIsNearlyAStepOverTheWholeBatch) {
  for (const DType precision : {DType::bf16, DType::fp16}) {
    TrainingOptions options;
    options.precision = precision;
    options.reduce_precision = precision;
    options.loss_scale = 1024.0;
    expect_like_the_oracle(options, "oracle, accumulated in half");
  }
}

// Adding in fp32 what differs by more than a half type has digits: only fp32 keeps the smaller one.
TEST(Accumulation, InFp32KeepsWhatAHalfTypeLoses) {
  const ModelSpec model{{13, 29, 7}, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 6);
  const SyntheticBatches batches(model, 6, 64);
  const auto error = [&](bool in_fp32) {
    TrainingOptions options;
    options.steps = 1;
    options.micro_batches = 32;
    options.global_batch = 64;
    options.precision = DType::bf16;
    options.reduce_precision = DType::fp32;
    options.fp32_gradient_accumulation = in_fp32;
    const TrainingRun run = train(*find_strategy("ZERO1"), model, options, 2, weights, batches);
    options.fp32_gradient_accumulation = true;
    const OracleRun oracle = run_oracle(model, options, 64, weights, batches);
    return largest_relative_error(run.gradient_norms, oracle.gradient_norms);
  };
  EXPECT_LE(error(true), 1e-6);
  EXPECT_GT(error(false), 1e-5);
}

}  // namespace
}  // namespace shardscope::testing
