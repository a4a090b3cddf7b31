// Every strategy on the reference problems, against the single-process oracle and against PyTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/oracle.h"
#include "tests/core/support/pytorch.h"
#include "tests/core/support/reference_problems.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

// How far two correct implementations may be apart. In half precision single parameters differ by
// as much as Adam moves them when a tiny gradient rounds to the other sign: there the distance is
// that of all parameters together.
struct Tolerance {
  double relative_loss;
  double absolute_parameters;  // fp32.
  double relative_l2;          // Half types.
};

Tolerance tolerance(DType precision) {
  switch (precision) {
    case DType::bf16:
      return {.relative_loss = 3e-3, .absolute_parameters = 0, .relative_l2 = 4e-3};
    case DType::fp16:
      return {.relative_loss = 5e-4, .absolute_parameters = 0, .relative_l2 = 1e-3};
    default:
      return {.relative_loss = 2e-6, .absolute_parameters = 2e-6, .relative_l2 = 0};
  }
}

// The largest errors of a comparison.
struct Worst {
  double loss = 0;
  double norm = 0;
  double parameters = 0;  // Absolute in fp32, relative L2 in half.

  void take(const Worst& other) {
    loss = std::max(loss, other.loss);
    norm = std::max(norm, other.norm);
    parameters = std::max(parameters, other.parameters);
  }
};

double largest_relative_error(const std::vector<double>& values,
                              const std::vector<double>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(values[i] - expected[i]) / std::abs(expected[i]));
  }
  return worst;
}

double parameter_error(DType precision, const std::vector<double>& values,
                       const std::vector<double>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double largest = 0.0;
  double difference = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = values[i] - expected[i];
    largest = std::max(largest, std::abs(error));
    difference += error * error;
    square += expected[i] * expected[i];
  }
  return precision == DType::fp32 ? largest : std::sqrt(difference / square);
}

void check(const Worst& worst, DType precision, const char* against) {
  const Tolerance allowed = tolerance(precision);
  EXPECT_LE(worst.loss, allowed.relative_loss) << "loss against " << against;
  if (precision == DType::fp32) {
    EXPECT_LE(worst.norm, 3e-6) << "gradient norm against " << against;
    EXPECT_LE(worst.parameters, allowed.absolute_parameters) << "parameters against " << against;
  } else {
    EXPECT_LE(worst.parameters, allowed.relative_l2) << "parameters against " << against;
  }
}

// What the oracle ends with; computed once for all strategies.
struct OracleRun {
  std::vector<double> losses;
  std::vector<double> gradient_norms;
  std::vector<double> weights;
};

OracleRun run_oracle(const ModelSpec& model, const TrainingOptions& options, int world,
                     const WeightSource& weights, const BatchSource& batches) {
  Oracle oracle(model, options, static_cast<std::size_t>(world), weights, batches);
  OracleRun run;
  for (std::size_t step = 0; step < options.steps; ++step) {
    run.losses.push_back(oracle.step(static_cast<std::int64_t>(step) + 1));
    run.gradient_norms.push_back(oracle.gradient_norm());
  }
  run.weights.assign(oracle.weights().begin(), oracle.weights().end());
  return run;
}

Worst compare(const TrainingRun& run, const OracleRun& oracle, DType precision) {
  const std::vector<double> weights(run.weights.begin(), run.weights.end());
  return {.loss = largest_relative_error(run.losses, oracle.losses),
          .norm = largest_relative_error(run.gradient_norms, oracle.gradient_norms),
          .parameters = parameter_error(precision, weights, oracle.weights)};
}

Worst compare(const TrainingRun& run, const PytorchRun& pytorch, DType precision) {
  std::vector<double> given(run.weights.begin(), run.weights.begin() + 8);
  std::vector<double> expected = pytorch.first8;
  for (std::size_t i = 0; i < run.weights.size(); i += 97) {
    given.push_back(run.weights[i]);
  }
  expected.insert(expected.end(), pytorch.every97.begin(), pytorch.every97.end());
  return {.loss = largest_relative_error(run.losses, pytorch.loss),
          .norm = largest_relative_error(run.gradient_norms, pytorch.gradient_norm),
          .parameters = parameter_error(precision, given, expected)};
}

void report(const char* against, const Worst& worst) {
  std::printf("furthest from %s: loss %.1e, gradient norm %.1e, parameters %.1e\n", against,
              worst.loss, worst.norm, worst.parameters);
}

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
    const OracleRun oracle = run_oracle(model, options, world, problem(), problem());
    for (const Strategy& strategy : all_strategies()) {
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
  for (const Strategy& strategy : all_strategies()) {
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
      const OracleRun oracle = run_oracle(model, options, world, weights, batches);
      for (const Strategy& strategy : all_strategies()) {
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
