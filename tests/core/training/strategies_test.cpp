// Every strategy on the reference problems, against the single-process oracle and against PyTorch.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/comparison.h"
#include "tests/core/support/oracle.h"
#include "tests/core/support/pytorch.h"
#include "tests/core/support/reference_problems.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

class Strategies : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {
 protected:
  const ReferenceProblem& problem() const {
    return reference_problems()[std::get<std::size_t>(GetParam())];
  }
  DType precision() const { return std::get<DType>(GetParam()); }
};

TEST_P(Strategies, TrainLikePytorchAndTheOracle) {
  const ModelSpec& model = problem().model();
  const TrainingOptions options = problem().options(precision());
  const auto pytorch = read_pytorch_runs(problem().name());
  Worst against_oracle;
  Worst against_pytorch;
  for (const int world : {1, 2, 3, 4, 8}) {
    const OracleRun oracle =
        run_oracle(model, options, static_cast<std::size_t>(world), problem(), problem());
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const TrainingRun run = train(strategy, model, options, world, problem(), problem());
      const Worst worst = compare(run, oracle, precision());
      check(worst, precision(), "the oracle");
      against_oracle.take(worst);
      if (world == 3) {
        continue;  // PyTorch's figures are for powers of two.
      }
      const Worst worst_of_pytorch =
          compare(run, pytorch.at({std::string(name(precision())), world}), precision());
      check(worst_of_pytorch, precision(), "PyTorch");
      against_pytorch.take(worst_of_pytorch);
    }
  }
  report("oracle", against_oracle);
  report("PyTorch", against_pytorch);
}

INSTANTIATE_TEST_SUITE_P(
    ReferenceProblems, Strategies,
    ::testing::Combine(::testing::Values(0U, 1U, 2U),
                       ::testing::Values(DType::fp32, DType::bf16, DType::fp16)),
    [](const ::testing::TestParamInfo<Strategies::ParamType>& info) {
      return std::string(reference_problems()[std::get<std::size_t>(info.param)].name()) + "_" +
             std::string(name(std::get<DType>(info.param)));
    });

TEST(StrategiesOnOneRank, EndWithEveryParameterOfPytorch) {
  const ReferenceProblem& problem = reference_problems().front();
  const std::vector<float> pytorch = read_pytorch_parameters();
  const std::vector<double> expected(pytorch.begin(), pytorch.end());
  ASSERT_EQ(expected.size(), problem.model().parameters());
  for (const Strategy& strategy : small_strategies()) {
    const TrainingRun run =
        train(strategy, problem.model(), problem.options(DType::fp32), 1, problem, problem);
    const std::vector<double> weights(run.weights.begin(), run.weights.end());
    EXPECT_LE(parameter_error(DType::fp32, weights, expected), 2e-6) << strategy.name;
  }
}

// What PyTorch was not run on: AdamW and L2, cross-entropy behind tanh, shapes nothing divides,
// gradients reduced in fp32.
TEST(StrategiesOnOtherOptions, TrainLikeTheOracle) {
  using Variant = AdamOptions::Variant;
  struct Case {
    std::vector<std::size_t> widths;
    Activation activation;
    Loss loss;
    DType precision;
    DType reduce_precision;
    AdamOptions optimizer;
  };
  const Case cases[] = {
      {{13, 29, 7},
       Activation::tanh,
       Loss::cross_entropy,
       DType::fp32,
       DType::fp32,
       {.variant = Variant::adamw, .weight_decay = 0.05}},
      {{13, 29, 7},
       Activation::relu,
       Loss::mse,
       DType::fp32,
       DType::fp32,
       {.variant = Variant::adam, .weight_decay = 0.05}},
      {{5, 31, 17, 3, 11},
       Activation::tanh,
       Loss::mse,
       DType::bf16,
       DType::fp32,
       {.variant = Variant::adamw, .weight_decay = 0.05}},
      {{13, 29, 7}, Activation::relu, Loss::cross_entropy, DType::fp16, DType::fp32, {}},
      {{64, 1}, Activation::relu, Loss::mse, DType::fp16, DType::bf16, {}},
  };
  int number = 0;
  for (const Case& c : cases) {
    const ModelSpec model{c.widths, c.activation, c.loss};
    TrainingOptions options;
    options.steps = 10;
    options.precision = c.precision;
    options.reduce_precision = c.reduce_precision;
    options.optimizer = c.optimizer;
    options.loss_scale = 64.0;
    const SyntheticWeights weights(model, 4);
    for (const int world : {1, 2, 3, 5, 7}) {
      options.global_batch = 8 * static_cast<std::size_t>(world);
      const SyntheticBatches batches(model, 4, options.global_batch);
      const OracleRun oracle =
          run_oracle(model, options, static_cast<std::size_t>(world), weights, batches);
      for (const Strategy& strategy : small_strategies()) {
        SCOPED_TRACE("case " + std::to_string(number) + ", " + std::string(strategy.name) +
                     ", world " + std::to_string(world));
        // Sums are rounded in another order than the oracle's, in the coarser of the two types.
        const DType coarser = c.reduce_precision == DType::bf16 ? DType::bf16 : c.precision;
        check(compare(train(strategy, model, options, world, weights, batches), oracle, coarser),
              coarser, "the oracle");
      }
    }
    ++number;
  }
}

}  // namespace
}  // namespace shardscope::testing
