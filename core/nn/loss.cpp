#include "core/nn/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

// The outputs of one row in fp32.
class Rows {
 public:
  Rows(Tensor outputs, std::size_t width) : outputs_(outputs), row_(width) {}

  const std::vector<float>& operator()(std::size_t row) {
    convert(Tensor::of(row_.data(), row_.size()), outputs_.slice(row * row_.size(), row_.size()));
    return row_;
  }

 private:
  Tensor outputs_;
  std::vector<float> row_;
};

double maximum(const std::vector<float>& row) { return *std::max_element(row.begin(), row.end()); }

double sum_of_exponentials(const std::vector<float>& row, double shift) {
  double sum = 0.0;
  for (const float value : row) {
    sum += std::exp(static_cast<double>(value) - shift);
  }
  return sum;
}

}  // namespace

DType target_dtype(Loss loss) { return loss == Loss::mse ? DType::fp32 : DType::int64; }

std::size_t target_elements(Loss loss, std::size_t rows, std::size_t width) {
  return loss == Loss::mse ? rows * width : rows;
}

double loss_forward(Loss loss, std::size_t rows, std::size_t width, Tensor outputs,
                    Tensor targets) {
  if (!outputs.is_real()) {
    return 0.0;
  }
  Rows output_row(outputs, width);
  double sum = 0.0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::vector<float>& o = output_row(r);
    if (loss == Loss::mse) {
      const float* y = targets.fp32() + r * width;
      for (std::size_t j = 0; j < width; ++j) {
        const double error = static_cast<double>(o[j]) - static_cast<double>(y[j]);
        sum += error * error;
      }
    } else {
      const double shift = maximum(o);
      const auto label = static_cast<std::size_t>(targets.int64()[r]);
      sum += shift + std::log(sum_of_exponentials(o, shift)) - static_cast<double>(o[label]);
    }
  }
  return sum / static_cast<double>(loss == Loss::mse ? rows * width : rows);
}

void loss_backward(Loss loss, std::size_t rows, std::size_t width, double scale, Tensor outputs,
                   Tensor targets, Tensor d_outputs) {
  if (!d_outputs.is_real()) {
    return;
  }
  Rows output_row(outputs, width);
  std::vector<float> d(width);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::vector<float>& o = output_row(r);
    if (loss == Loss::mse) {
      const float* y = targets.fp32() + r * width;
      const double factor = 2.0 * scale / static_cast<double>(rows * width);
      for (std::size_t j = 0; j < width; ++j) {
        d[j] = static_cast<float>((static_cast<double>(o[j]) - static_cast<double>(y[j])) * factor);
      }
    } else {
      const double shift = maximum(o);
      const double sum = sum_of_exponentials(o, shift);
      const auto label = static_cast<std::size_t>(targets.int64()[r]);
      for (std::size_t j = 0; j < width; ++j) {
        const double softmax = std::exp(static_cast<double>(o[j]) - shift) / sum;
        d[j] = static_cast<float>((softmax - (j == label ? 1.0 : 0.0)) * scale /
                                  static_cast<double>(rows));
      }
    }
    convert(d_outputs.slice(r * width, width), Tensor::of(d.data(), width));
  }
}

}  // namespace shardscope
