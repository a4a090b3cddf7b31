// The layers and losses against the fp64 reference, and the reference against central differences.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "tests/core/support/reference_mlp.h"
#include "tests/core/support/text.h"

namespace shardscope::testing {
namespace {

struct Case {
  std::vector<std::size_t> widths;
  std::size_t rows;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{1, 1}, 1},          {{3, 1}, 1},       {{1, 4}, 5},           {{5, 3}, 1},
      {{4, 1, 3}, 6},       {{1, 1, 1, 1}, 3}, {{7, 5, 2}, 1},        {{6, 9, 4, 5}, 7},
      {{17, 33, 9, 10}, 8}, {{2, 64, 2}, 19},  {{3, 2, 2, 2, 2}, 10},
  };
  return all;
}

// Calls f(model, rows, seed) for every shape, activation and loss.
template <typename F>
void for_each_model(F&& f) {
  std::uint64_t seed = 100;
  for (const Case& c : cases()) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      for (const Loss loss : {Loss::mse, Loss::cross_entropy}) {
        const ModelSpec model{c.widths, activation, loss};
        SCOPED_TRACE(text(model) + ", rows " + std::to_string(c.rows) + ", seed " +
                     std::to_string(++seed));
        f(model, c.rows, seed);
      }
    }
  }
}

Batch random_batch(const ModelSpec& model, std::size_t rows, std::uint64_t seed) {
  Batch batch{.rows = rows, .x = {}, .y = {}, .labels = {}};
  for (std::size_t i = 0; i < rows * model.input_width(); ++i) {
    batch.x.push_back(uniform(seed, i));
  }
  for (std::size_t i = 0; i < rows * model.output_width() && model.loss == Loss::mse; ++i) {
    batch.y.push_back(uniform(seed + 1000, i));
  }
  for (std::size_t i = 0; i < rows && model.loss == Loss::cross_entropy; ++i) {
    batch.labels.push_back(
        static_cast<std::int64_t>(splitmix64(seed + 2000, i) % model.output_width()));
  }
  return batch;
}

std::vector<float> random_parameters(const ModelSpec& model, std::uint64_t seed) {
  std::vector<float> parameters(model.parameters());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = uniform(seed + 3000, i);
  }
  return parameters;
}

Tensor view(std::vector<float>& values) { return Tensor::of(values.data(), values.size()); }

Tensor targets(Batch& batch, Loss loss) {
  return loss == Loss::mse ? view(batch.y)
                           : Tensor{reinterpret_cast<std::byte*>(batch.labels.data()), DType::int64,
                                    batch.labels.size()};
}

// The library's loss and gradient, layer by layer as a training step computes them.
LossAndGradient library(const ModelSpec& model, std::vector<float> parameters, Batch batch,
                        double scale) {
  const auto of_layer = [&](std::vector<float>& flat, std::size_t l) {
    return LinearTensors::together(
        model.layer(l), view(flat).slice(model.layer_offset(l), model.layer(l).elements()));
  };
  std::vector<std::vector<float>> inputs = {batch.x};
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const bool last = l + 1 == model.layer_count();
    inputs.emplace_back(batch.rows * model.layer(l).out);
    linear_forward(model.layer(l), batch.rows,
                   last ? std::nullopt : std::optional(model.activation), view(inputs[l]),
                   of_layer(parameters, l), view(inputs.back()));
  }
  LossAndGradient result;
  const Tensor outputs = view(inputs.back());
  result.loss = loss_forward(model.loss, batch.rows, model.output_width(), outputs,
                             targets(batch, model.loss));
  std::vector<float> d(outputs.count);
  loss_backward(model.loss, batch.rows, model.output_width(), scale, outputs,
                targets(batch, model.loss), view(d));
  std::vector<float> gradient(model.parameters());
  for (std::size_t l = model.layer_count(); l-- > 0;) {
    linear_backward_parameters(model.layer(l), batch.rows, view(inputs[l]), view(d),
                               of_layer(gradient, l));
    if (l > 0) {
      std::vector<float> dx(batch.rows * model.layer(l).in);
      linear_backward_input(model.layer(l), batch.rows, view(d), of_layer(parameters, l).weight,
                            view(dx));
      activation_backward(model.activation, view(inputs[l]), view(dx));
      d = std::move(dx);
    }
  }
  result.gradient.assign(gradient.begin(), gradient.end());
  return result;
}

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) {
    result = std::max(result, std::abs(value));
  }
  return result;
}

TEST(Gradient, OfTheReferenceIsTheCentralDifference) {
  for_each_model([](const ModelSpec& model, std::size_t rows, std::uint64_t seed) {
    const Batch batch = random_batch(model, rows, seed);
    const std::vector<float> fp32 = random_parameters(model, seed);
    std::vector<double> parameters(fp32.begin(), fp32.end());
    const LossAndGradient exact = loss_and_gradient(model, parameters, batch, 1.0, unrounded);
    const double tolerance = 1e-7 * (1.0 + largest(exact.gradient));
    // Large models by sample: each parameter costs two evaluations.
    const std::size_t stride = 1 + parameters.size() / 100;
    for (std::size_t i = 0; i < parameters.size(); i += stride) {
      constexpr double kStep = 1e-5;
      const double value = parameters[i];
      parameters[i] = value + kStep;
      const double above = loss_and_gradient(model, parameters, batch, 1.0, unrounded).loss;
      parameters[i] = value - kStep;
      const double below = loss_and_gradient(model, parameters, batch, 1.0, unrounded).loss;
      parameters[i] = value;
      EXPECT_NEAR(exact.gradient[i], (above - below) / (2 * kStep), tolerance) << "parameter " << i;
    }
  });
}

TEST(Gradient, OfTheLibraryIsThatOfTheReference) {
  double worst = 0.0;
  for_each_model([&](const ModelSpec& model, std::size_t rows, std::uint64_t seed) {
    for (const double scale : {1.0, 1024.0}) {
      const Batch batch = random_batch(model, rows, seed);
      const std::vector<float> fp32 = random_parameters(model, seed);
      const std::vector<double> parameters(fp32.begin(), fp32.end());
      const LossAndGradient exact = loss_and_gradient(model, parameters, batch, scale, unrounded);
      const LossAndGradient result = library(model, fp32, batch, scale);
      EXPECT_NEAR(result.loss, exact.loss, 1e-6 * std::abs(exact.loss) + 1e-12);
      const double unit = largest(exact.gradient) + 1e-30;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const double error = std::abs(result.gradient[i] - exact.gradient[i]) / unit;
        EXPECT_LT(error, 1e-6) << "parameter " << i << ": " << result.gradient[i] << ", not "
                               << exact.gradient[i];
        worst = std::max(worst, error);
      }
    }
  });
  RecordProperty("worst_relative_error", std::to_string(worst));
}

// Outputs whose exponentials overflow fp64 unless the largest is taken off first.
TEST(CrossEntropy, StaysFiniteOnLargeOutputs) {
  std::vector<float> outputs = {1000.0F, -1000.0F, 0.0F, -3e38F, 3e38F, 0.0F};
  std::vector<std::int64_t> labels = {0, 1};
  const Tensor targets{reinterpret_cast<std::byte*>(labels.data()), DType::int64, 2};
  EXPECT_EQ(loss_forward(Loss::cross_entropy, 1, 3, view(outputs).slice(0, 3), targets.slice(0, 1)),
            0.0);
  std::vector<float> d(6);
  loss_backward(Loss::cross_entropy, 2, 3, 1.0, view(outputs), targets, view(d));
  EXPECT_EQ(d, (std::vector<float>{0, 0, 0, 0, 0, 0}));
}

TEST(Activation, PassesNaNOn) {
  std::vector<float> x = {std::nanf("")};
  std::vector<float> parameters = {1.0F, 0.0F};
  for (const Activation activation : {Activation::relu, Activation::tanh}) {
    std::vector<float> y = {0.0F};
    linear_forward({1, 1}, 1, activation, view(x),
                   LinearTensors::together({1, 1}, view(parameters)), view(y));
    EXPECT_TRUE(std::isnan(y[0]));
  }
}

}  // namespace
}  // namespace shardscope::testing
