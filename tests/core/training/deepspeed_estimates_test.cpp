// What DeepSpeed's memory estimators print, and what training holds beyond it.
#include "core/training/deepspeed_estimates.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "core/training/formulas.h"

namespace shardscope::testing {
namespace {

constexpr double kGibibyte = 1073741824;
constexpr double kLastDigit = 0.005;

double gibibytes(EstimatedSetup setup, std::uint64_t parameters, std::uint64_t largest_layer,
                 int world_size) {
  return static_cast<double>(
             deepspeed_estimate_bytes(setup, parameters, largest_layer, world_size)) /
         kGibibyte;
}

// t5-3b on 8 GPUs, by DeepSpeed's documentation; stage 2 as in DeepSpeed#5102.
TEST(DeepSpeedEstimates, OfT5AreThoseThatDeepSpeedPrints) {
  const auto t5 = [](EstimatedSetup setup) {
    return gibibytes(setup, 2'851'000'000, 32'899'072, 8);
  };
  EXPECT_NEAR(t5({2, false}), 11.28, kLastDigit);
  EXPECT_NEAR(t5({2, true}), 5.31, kLastDigit);
  EXPECT_NEAR(t5({3, false}), 6.10, kLastDigit);
  EXPECT_NEAR(t5({3, true}), 0.79, kLastDigit);
}

// DeepSpeed#4527: 6805M parameters, 131M in the largest layer, 4 GPUs.
TEST(DeepSpeedEstimates, OfSevenBillionParametersAreThoseOfTheThread) {
  EXPECT_NEAR(gibibytes({3, false}, 6'805'000'000, 131'000'000, 4), 29.01, kLastDigit);
  EXPECT_NEAR(gibibytes({3, true}, 6'805'000'000, 131'000'000, 4), 3.66, kLastDigit);
}

TEST(DeepSpeedEstimates, RoundDownAsDeepSpeedDoes) {
  EXPECT_EQ(deepspeed_estimate_bytes({2, false}, 10, 4, 7), 20U + 25U);
  EXPECT_EQ(deepspeed_estimate_bytes({3, false}, 10, 4, 7), 16U + 25U);
  EXPECT_EQ(deepspeed_estimate_bytes({3, true}, 10, 4, 7), 16U + 2U);
}

ModelSpec llama_7b(std::size_t sequence) {
  TransformerSpec spec;
  spec.architecture = "llama";
  spec.vocabulary = 32000;
  spec.hidden = 4096;
  spec.blocks = spec.heads = spec.kv_heads = 32;
  spec.head_dim = 128;
  spec.intermediate = 11008;
  spec.sequence = sequence;
  spec.gated_mlp = true;
  spec.norm = Norm::rms_norm;
  ModelSpec model;
  model.transformer = spec;
  return model;
}

double peak(const Strategy& strategy, std::size_t sequence = 512) {
  const ModelSpec model = llama_7b(sequence);
  TrainingOptions options;
  options.global_batch = 4;
  options.precision = options.reduce_precision = DType::fp16;
  options.storage = Storage::shape_only;
  return static_cast<double>(predicted_peak_bytes({strategy, model, options, 4, 0}));
}

// The same size and number of GPUs: the peak grows with everything that the estimate leaves out.
TEST(DeepSpeedEstimates, OfStage3LeaveOutWhatGrowsThePeak) {
  const Strategy stage3 = *find_strategy("DEEPSPEED_STAGE3");
  const auto estimate = static_cast<double>(
      deepspeed_estimate_bytes({3, false}, llama_7b(512).parameters(), 32000 * 4096, 4));
  Strategy half_bucket = stage3;
  half_bucket.reduction.buckets.elements /= 2;
  Strategy nothing_kept = stage3;
  nothing_kept.gather.max_reuse_distance = nothing_kept.gather.prefetch_elements = 0;

  const double whole = peak(stage3);
  const double bucket = whole - peak(half_bucket);
  const double kept = whole - peak(nothing_kept);
  const double activations = peak(stage3, 1024) - whole;
  EXPECT_GT(whole, estimate);
  EXPECT_GE(bucket, 2 * 2.5e8);
  EXPECT_GT(kept, 0);
  EXPECT_GT(activations, 2e9);
  std::printf(
      "estimate %.2f GB, peak %.2f GB; half the bucket %.2f GB, kept and prefetched "
      "parameters %.2f GB, 512 more tokens %.2f GB\n",
      estimate / 1e9, whole / 1e9, bucket / 1e9, kept / 1e9, activations / 1e9);
}

}  // namespace
}  // namespace shardscope::testing
