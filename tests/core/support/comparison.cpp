#include "tests/core/support/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace shardscope::testing {
namespace {

// The larger one; a NaN is larger than all numbers, so that no test overlooks it.
double larger(double worst, double error) {
  return error > worst || std::isnan(error) ? error : worst;
}

}  // namespace

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

void Worst::take(const Worst& other) {
  loss = larger(loss, other.loss);
  norm = larger(norm, other.norm);
  parameters = larger(parameters, other.parameters);
}

double largest_relative_error(const std::vector<double>& values,
                              const std::vector<double>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = larger(worst, std::abs(values[i] - expected[i]) / std::abs(expected[i]));
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
    largest = larger(largest, std::abs(error));
    difference += error * error;
    square += expected[i] * expected[i];
  }
  return precision == DType::fp32 ? largest : std::sqrt(difference / square);
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

void report(const char* against, const Worst& worst) {
  std::printf("furthest from %s: loss %.1e, gradient norm %.1e, parameters %.1e\n", against,
              worst.loss, worst.norm, worst.parameters);
}

}  // namespace shardscope::testing
