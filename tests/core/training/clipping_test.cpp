// Clipping by the global norm and AdamW, every strategy against PyTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/comparison.h"
#include "tests/core/support/reference_problems.h"
#include "tests/core/support/small_strategies.h"

namespace shardscope::testing {
namespace {

struct PytorchCase {
  const char* name;  // Of its figures.
  std::size_t problem;
  AdamOptions::Variant variant;
  double max_norm;  // 0: no clipping.
};

constexpr PytorchCase kCases[] = {
    {"relu_mse_adam_clip", 0, AdamOptions::Variant::adam, 0.3},
    {"relu_mse_adamw", 0, AdamOptions::Variant::adamw, 0},
    {"tanh_mse_adamw_clip", 1, AdamOptions::Variant::adamw, 0.4},
    {"relu_ce_adam_clip", 2, AdamOptions::Variant::adam, 1.9},
};

// The norms the training clipped by, and those that the diagnostics give.
std::vector<double> clipping_norms(const TrainingRun& run) {
  std::vector<double> norms;
  for (const UpdateReport& update : run.updates) {
    norms.push_back(update.norm.value_or(NAN));
  }
  return norms;
}

class ClippedStrategies : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {
 protected:
  const PytorchCase& reference() const { return kCases[std::get<std::size_t>(GetParam())]; }
  const ReferenceProblem& problem() const { return reference_problems()[reference().problem]; }
  DType precision() const { return std::get<DType>(GetParam()); }

  TrainingOptions options() const {
    TrainingOptions options = problem().options(precision());
    options.clip_norm = reference().max_norm;
    options.optimizer.variant = reference().variant;
    options.optimizer.weight_decay =
        reference().variant == AdamOptions::Variant::adamw ? 0.01 : 0.0;
    return options;
  }

  // Of a norm that was not clipped there is none.
  void check_norms(const TrainingRun& run, const PytorchRun& pytorch, double& worst) const {
    if (reference().max_norm == 0) {
      EXPECT_FALSE(run.updates.front().norm.has_value());
      return;
    }
    const std::vector<double> norms = clipping_norms(run);
    EXPECT_LE(largest_relative_error(norms, run.gradient_norms), 3e-7) << "the norm's own sum";
    const double error = largest_relative_error(norms, pytorch.gradient_norm);
    EXPECT_LE(error, precision() == DType::fp32 ? 3e-6 : 1e-2) << "the norm of PyTorch";
    worst = std::max(worst, error);
  }
};

TEST_P(ClippedStrategies, TrainLikePytorch) {
  const auto pytorch = read_pytorch_runs(reference().name);
  Worst worst;
  double worst_norm = 0;
  for (const int world : {1, 2, 4, 8}) {
    const PytorchRun& expected = pytorch.at({std::string(name(precision())), world});
    const auto is_clipped = [&](double norm) { return norm > reference().max_norm; };
    ASSERT_NE(
        std::all_of(expected.gradient_norm.begin(), expected.gradient_norm.end(), is_clipped),
        std::any_of(expected.gradient_norm.begin(), expected.gradient_norm.end(),
                    [&](double norm) { return reference().max_norm > 0 && is_clipped(norm); }))
        << "some steps are clipped, others not";
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const TrainingRun run =
          train(strategy, problem().model(), options(), world, problem(), problem());
      const Worst error = compare(run, expected, precision());
      check(error, precision(), "PyTorch");
      check_norms(run, expected, worst_norm);
      worst.take(error);
    }
  }
  worst.norm = std::max(worst.norm, worst_norm);
  report("PyTorch", worst);
}

INSTANTIATE_TEST_SUITE_P(ReferenceProblems, ClippedStrategies,
                         ::testing::Combine(::testing::Values(0U, 1U, 2U, 3U),
                                            ::testing::Values(DType::fp32, DType::bf16,
                                                              DType::fp16)),
                         [](const ::testing::TestParamInfo<ClippedStrategies::ParamType>& info) {
                           return std::string(kCases[std::get<std::size_t>(info.param)].name) +
                                  "_" + std::string(name(std::get<DType>(info.param)));
                         });

// With a wide exponent a power of two changes no digit, whether its square fits fp32 or not.
TEST(Clipping, DoesNotDependOnTheLossScale) {
  const ModelSpec model{{5, 7, 3}, Activation::tanh, Loss::mse};
  const SyntheticWeights weights(model, 3);
  for (const DType precision : {DType::fp32, DType::bf16}) {
    TrainingOptions options;
    options.steps = 4;
    options.global_batch = 8;
    options.precision = precision;
    options.reduce_precision = precision;
    options.clip_norm = 0.1;
    const SyntheticBatches batches(model, 3, options.global_batch);
    for (const Strategy& strategy : small_strategies()) {
      const auto run = [&](double loss_scale) {
        options.loss_scale = loss_scale;
        return train(strategy, model, options, 4, weights, batches);
      };
      const TrainingRun unscaled = run(1);
      for (const double scale : {0x1p-75, 0x1p-10, 0x1p16, 0x1p75}) {
        SCOPED_TRACE(std::string(strategy.name) + ", " + std::string(name(precision)) +
                     ", loss scale " + std::to_string(std::ilogb(scale)));
        const TrainingRun scaled = run(scale);
        expect_same_weights(scaled, unscaled);
        EXPECT_EQ(clipping_norms(scaled), clipping_norms(unscaled));
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
