#include "tests/core/support/reference_problems.h"

#include <algorithm>
#include <array>

#include "core/data/generator.h"

namespace shardscope::testing {

TrainingOptions ReferenceProblem::options(DType precision) const {
  TrainingOptions options;
  options.steps = kSteps;
  options.global_batch = kRows;
  options.precision = precision;
  options.reduce_precision = precision;
  options.loss_scale = precision == DType::fp32 ? 1.0 : 1024.0;
  return options;
}

void ReferenceProblem::read(std::size_t layer, LayerTensor which, std::size_t first,
                            Tensor out) const {
  constexpr std::array kWeightScale = {0.5F, 0.25F, 0.25F};
  const bool bias = which == LayerTensor::bias;
  const std::uint64_t seed = 1000 * id_ + 2 * layer + (bias ? 1 : 0);
  const float scale = bias ? 0x1p-4F : kWeightScale[layer];
  for (std::size_t i = 0; i < out.count; ++i) {
    out.fp32()[i] = uniform(seed, first + i) * scale;
  }
}

void ReferenceProblem::read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
                            Tensor y) const {
  const std::size_t in = model_.input_width();
  const std::size_t out = model_.output_width();
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = x.fp32() + r * in;
    for (std::size_t i = 0; i < in; ++i) {
      row[i] = uniform(1000 * id_ + 100 + step, (first_row + r) * in + i);
    }
    if (model_.loss == Loss::cross_entropy) {
      y.int64()[r] = std::max_element(row, row + out) - row;
      continue;
    }
    for (std::size_t j = 0; j < out; ++j) {
      y.fp32()[r * out + j] = 0.5F * row[j] - 0.5F * row[out + j];
    }
  }
}

const std::vector<ReferenceProblem>& reference_problems() {
  static const std::vector<ReferenceProblem> problems = {
      {"relu_mse", 1, {{16, 64, 64, 8}, Activation::relu, Loss::mse}},
      {"tanh_mse", 2, {{16, 64, 64, 8}, Activation::tanh, Loss::mse}},
      {"relu_ce", 3, {{32, 128, 128, 10}, Activation::relu, Loss::cross_entropy}},
  };
  return problems;
}

}  // namespace shardscope::testing
