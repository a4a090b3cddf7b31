#include "tests/core/support/reference_mlp.h"

#include <algorithm>
#include <cmath>

namespace shardscope::testing {
namespace {

using Values = std::vector<double>;

double activate(Activation activation, double z) {
  return activation == Activation::relu ? std::max(z, 0.0) : std::tanh(z);
}

double derivative(Activation activation, double a) {
  return activation == Activation::relu ? (a > 0.0 ? 1.0 : 0.0) : 1.0 - a * a;
}

Values layer_forward(LinearShape shape, std::size_t rows, std::span<const double> parameters,
                     const Values& x, const Rounding& round) {
  Values z(rows * shape.out);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < shape.out; ++o) {
      double sum = 0.0;
      for (std::size_t i = 0; i < shape.in; ++i) {
        sum += x[r * shape.in + i] * parameters[o * shape.in + i];
      }
      z[r * shape.out + o] = round(sum + parameters[shape.weight_elements() + o]);
    }
  }
  return z;
}

void layer_backward_parameters(LinearShape shape, std::size_t rows, const Values& x,
                               const Values& dy, const Rounding& round,
                               std::span<double> gradient) {
  for (std::size_t o = 0; o < shape.out; ++o) {
    for (std::size_t i = 0; i < shape.in; ++i) {
      double sum = 0.0;
      for (std::size_t r = 0; r < rows; ++r) {
        sum += dy[r * shape.out + o] * x[r * shape.in + i];
      }
      gradient[o * shape.in + i] = round(sum);
    }
    double sum = 0.0;
    for (std::size_t r = 0; r < rows; ++r) {
      sum += dy[r * shape.out + o];
    }
    gradient[shape.weight_elements() + o] = round(sum);
  }
}

Values layer_backward_input(LinearShape shape, std::size_t rows, std::span<const double> parameters,
                            const Values& dy, const Rounding& round) {
  Values dx(rows * shape.in);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < shape.in; ++i) {
      double sum = 0.0;
      for (std::size_t o = 0; o < shape.out; ++o) {
        sum += dy[r * shape.out + o] * parameters[o * shape.in + i];
      }
      dx[r * shape.in + i] = round(sum);
    }
  }
  return dx;
}

// Returns the loss and replaces the outputs by their gradient times `scale`.
double loss_of(Loss loss, std::size_t width, const Batch& batch, double scale,
               const Rounding& round, Values& outputs) {
  const auto rows = static_cast<double>(batch.rows);
  double sum = 0.0;
  for (std::size_t r = 0; r < batch.rows; ++r) {
    const std::span<double> o(outputs.data() + r * width, width);
    if (loss == Loss::mse) {
      for (std::size_t j = 0; j < width; ++j) {
        const double error = o[j] - static_cast<double>(batch.y[r * width + j]);
        sum += error * error / (rows * static_cast<double>(width));
        o[j] = round(2.0 * error / (rows * static_cast<double>(width)) * scale);
      }
      continue;
    }
    const auto label = static_cast<std::size_t>(batch.labels[r]);
    const double largest = *std::max_element(o.begin(), o.end());
    double exponentials = 0.0;
    for (const double value : o) {
      exponentials += std::exp(value - largest);
    }
    sum += (largest + std::log(exponentials) - o[label]) / rows;
    for (std::size_t j = 0; j < width; ++j) {
      const double softmax = std::exp(o[j] - largest) / exponentials;
      o[j] = round((softmax - (j == label ? 1.0 : 0.0)) / rows * scale);
    }
  }
  return sum;
}

}  // namespace

Batch read_batch(const BatchSource& source, const ModelSpec& model, std::size_t step,
                 std::size_t first_row, std::size_t rows) {
  Batch batch{
      .rows = rows, .x = std::vector<float>(rows * model.input_width()), .y = {}, .labels = {}};
  const Tensor x = Tensor::of(batch.x.data(), batch.x.size());
  if (model.loss == Loss::mse) {
    batch.y.resize(rows * model.output_width());
    source.read(step, first_row, rows, x, Tensor::of(batch.y.data(), batch.y.size()));
  } else {
    batch.labels.resize(rows);
    source.read(step, first_row, rows, x,
                {reinterpret_cast<std::byte*>(batch.labels.data()), DType::int64, rows});
  }
  return batch;
}

std::vector<float> read_weights(const WeightSource& source, const ModelSpec& model) {
  std::vector<float> weights(model.parameters());
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    float* layer = weights.data() + model.layer_offset(l);
    source.read(l, LayerTensor::weight, 0, Tensor::of(layer, shape.weight_elements()));
    source.read(l, LayerTensor::bias, 0, Tensor::of(layer + shape.weight_elements(), shape.out));
  }
  return weights;
}

LossAndGradient loss_and_gradient(const ModelSpec& model, std::span<const double> parameters,
                                  const Batch& batch, double scale, const Rounding& round) {
  const auto of_layer = [&](std::size_t l) {
    return parameters.subspan(model.layer_offset(l), model.layer(l).elements());
  };
  std::vector<Values> inputs(1);
  for (const float value : batch.x) {
    inputs.front().push_back(round(value));
  }
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    Values z = layer_forward(model.layer(l), batch.rows, of_layer(l), inputs.back(), round);
    if (l + 1 < model.layer_count()) {
      for (double& value : z) {
        value = round(activate(model.activation, value));
      }
    }
    inputs.push_back(std::move(z));
  }

  LossAndGradient result;
  result.gradient.resize(model.parameters());
  Values d = std::move(inputs.back());
  result.loss = loss_of(model.loss, model.output_width(), batch, scale, round, d);
  for (std::size_t l = model.layer_count(); l-- > 0;) {
    const LinearShape shape = model.layer(l);
    layer_backward_parameters(
        shape, batch.rows, inputs[l], d, round,
        std::span(result.gradient).subspan(model.layer_offset(l), shape.elements()));
    if (l > 0) {
      d = layer_backward_input(shape, batch.rows, of_layer(l), d, round);
      for (std::size_t i = 0; i < d.size(); ++i) {
        d[i] = round(d[i] * derivative(model.activation, inputs[l][i]));
      }
    }
  }
  return result;
}

}  // namespace shardscope::testing
