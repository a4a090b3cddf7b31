#include "core/data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/data/generator.h"

namespace shardscope {
namespace {

// Independent streams of one scenario seed.
enum Stream : std::uint64_t {
  kInputs = 0,
  kTeacherInput = 1,
  kTeacherOutput = 2,
  kTeacherBias = 3,
  kLayers = 16
};

std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t stream) {
  return splitmix64(seed, stream);
}

std::vector<float> random_matrix(std::uint64_t seed, std::size_t rows, std::size_t columns,
                                 double scale) {
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = uniform(seed, i) * static_cast<float>(scale);
  }
  return values;
}

// y += x M for one row x and a row-major M [x_count, y_count], in the order of x.
void multiply_row(const float* x, std::size_t x_count, const std::vector<float>& m, float* y,
                  std::size_t y_count) {
  for (std::size_t i = 0; i < x_count; ++i) {
    for (std::size_t j = 0; j < y_count; ++j) {
      y[j] += x[i] * m[i * y_count + j];
    }
  }
}

}  // namespace

SyntheticWeights::SyntheticWeights(ModelSpec model, std::uint64_t seed)
    : model_(std::move(model)), seed_(seed) {}

void SyntheticWeights::read(std::size_t layer, LayerTensor which, std::size_t first,
                            Tensor out) const {
  const std::uint64_t stream = kLayers + 2 * layer + (which == LayerTensor::bias ? 1 : 0);
  const std::uint64_t seed = stream_seed(seed_, stream);
  const auto bound =
      static_cast<float>(1.0 / std::sqrt(static_cast<double>(model_.layer(layer).in)));
  float* values = out.fp32();
  for (std::size_t i = 0; i < out.count; ++i) {
    values[i] = uniform(seed, first + i) * bound;
  }
}

SyntheticBatches::SyntheticBatches(const ModelSpec& model, std::uint64_t seed,
                                   std::size_t global_batch)
    : model_(model),
      seed_(stream_seed(seed, kInputs)),
      global_batch_(global_batch),
      hidden_(std::min<std::size_t>(4, model.input_width())) {
  // x is uniform (variance 1/3), so are the entries (variance scale^2 / 3): B x has variance 1 at
  // scale 3 / sqrt(in), tanh of it about 0.4. Half of a target's variance is the bias's; classes
  // have none, or the same few would win always.
  const double input_scale = 3.0 / std::sqrt(static_cast<double>(model.input_width()));
  const double output_scale = std::sqrt(0.5 * 3.0 / 0.4 / static_cast<double>(hidden_));
  const double bias_scale = model.loss == Loss::mse ? std::sqrt(0.5 * 3.0) : 0.0;
  input_weights_ =
      random_matrix(stream_seed(seed, kTeacherInput), model.input_width(), hidden_, input_scale);
  output_weights_ =
      random_matrix(stream_seed(seed, kTeacherOutput), hidden_, model.output_width(), output_scale);
  bias_ = random_matrix(stream_seed(seed, kTeacherBias), 1, model.output_width(), bias_scale);
}

void SyntheticBatches::teach(const float* x, float* y) const {
  std::vector<float> hidden(hidden_);
  multiply_row(x, model_.input_width(), input_weights_, hidden.data(), hidden_);
  for (float& value : hidden) {
    value = std::tanh(value);
  }
  std::copy(bias_.begin(), bias_.end(), y);
  multiply_row(hidden.data(), hidden_, output_weights_, y, model_.output_width());
}

void SyntheticBatches::read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
                            Tensor y) const {
  const std::size_t in = model_.input_width();
  const std::size_t out = model_.output_width();
  std::vector<float> taught(out);
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = x.fp32() + r * in;
    const std::uint64_t index = (step * global_batch_ + first_row + r) * in;
    for (std::size_t i = 0; i < in; ++i) {
      row[i] = uniform(seed_, index + i);
    }
    teach(row, taught.data());
    if (model_.loss == Loss::mse) {
      std::copy(taught.begin(), taught.end(), y.fp32() + r * out);
    } else {
      y.int64()[r] = std::max_element(taught.begin(), taught.end()) - taught.begin();
    }
  }
}

}  // namespace shardscope
