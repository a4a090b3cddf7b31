#include "core/nn/linear.h"

#include <Eigen/Core>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

using MatrixMap = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// Eigen splits products by the cache sizes it detects, and with them the order of additions: fixed,
// so that every machine gets the same bits.
[[maybe_unused]] const bool kCacheSizesFixed = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 8 << 20);
  return true;
}();

// fp32 memory for half-type operands, kept from call to call. One per slot and thread; no call
// suspends a simulated rank while it holds one.
enum Slot { kX, kWeight, kBias, kY, kSlots };

class Scratch {
 public:
  float* get(std::size_t count) {
    if (count > capacity_) {
      data_.reset(new (std::align_val_t{64}) float[count]);
      capacity_ = count;
    }
    return data_.get();
  }

 private:
  struct Deleter {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Deleter> data_;
  std::size_t capacity_ = 0;
};

thread_local Scratch scratch[kSlots];

// The tensor itself if it is fp32, else fp32 scratch of its size, not filled.
Tensor fp32_output(Tensor tensor, Slot slot) {
  return tensor.dtype == DType::fp32 ? tensor
                                     : Tensor::of(scratch[slot].get(tensor.count), tensor.count);
}

// The tensor's values in fp32: itself, or a converted copy.
Tensor fp32_input(Tensor tensor, Slot slot) {
  const Tensor result = fp32_output(tensor, slot);
  if (result.data != tensor.data) {
    convert(result, tensor);
  }
  return result;
}

// Rounds an fp32 result into its tensor, unless it was computed in place.
void store(Tensor destination, Tensor fp32) {
  if (destination.data != fp32.data) {
    convert(destination, fp32);
  }
}

MatrixMap matrix(Tensor tensor, std::size_t rows, std::size_t columns) {
  SHARDSCOPE_CHECK(tensor.count == rows * columns, "a tensor has not the shape it is used in");
  return {tensor.fp32(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

void add_bias(std::size_t rows, std::size_t columns, const float* bias, float* y) {
  for (std::size_t row = 0; row < rows; ++row, y += columns) {
    for (std::size_t column = 0; column < columns; ++column) {
      y[column] += bias[column];
    }
  }
}

void sum_rows(std::size_t rows, std::size_t columns, const float* dy, float* db) {
  for (std::size_t column = 0; column < columns; ++column) {
    db[column] = dy[column];
  }
  for (std::size_t row = 1; row < rows; ++row) {
    dy += columns;
    for (std::size_t column = 0; column < columns; ++column) {
      db[column] += dy[column];
    }
  }
}

void apply_activation(Activation activation, Tensor fp32) {
  float* values = fp32.fp32();
  switch (activation) {
    case Activation::relu:
      for (std::size_t i = 0; i < fp32.count; ++i) {
        values[i] = values[i] < 0.0F ? 0.0F : values[i];  // NaN passes, as in torch.
      }
      break;
    case Activation::tanh:
      for (std::size_t i = 0; i < fp32.count; ++i) {
        values[i] = std::tanh(values[i]);
      }
      break;
  }
}

}  // namespace

void linear_forward(LinearShape shape, std::size_t rows, std::optional<Activation> activation,
                    Tensor x, LinearTensors parameters, Tensor y) {
  if (!y.is_real()) {
    return;
  }
  const Tensor result = fp32_output(y, kY);
  matrix(result, rows, shape.out).noalias() =
      matrix(fp32_input(x, kX), rows, shape.in) *
      matrix(fp32_input(parameters.weight, kWeight), shape.out, shape.in).transpose();
  add_bias(rows, shape.out, fp32_input(parameters.bias, kBias).fp32(), result.fp32());
  store(y, result);
  if (activation.has_value()) {
    const Tensor rounded = fp32_input(y, kY);
    apply_activation(*activation, rounded);
    store(y, rounded);
  }
}

void linear_backward_parameters(LinearShape shape, std::size_t rows, Tensor x, Tensor dy,
                                LinearTensors d_parameters) {
  if (!d_parameters.weight.is_real()) {
    return;
  }
  const Tensor dy32 = fp32_input(dy, kY);
  const Tensor weight = fp32_output(d_parameters.weight, kWeight);
  matrix(weight, shape.out, shape.in).noalias() =
      matrix(dy32, rows, shape.out).transpose() * matrix(fp32_input(x, kX), rows, shape.in);
  store(d_parameters.weight, weight);
  const Tensor bias = fp32_output(d_parameters.bias, kBias);
  sum_rows(rows, shape.out, dy32.fp32(), bias.fp32());
  store(d_parameters.bias, bias);
}

void linear_backward_input(LinearShape shape, std::size_t rows, Tensor dy, Tensor weight,
                           Tensor dx) {
  if (!dx.is_real()) {
    return;
  }
  const Tensor result = fp32_output(dx, kX);
  matrix(result, rows, shape.in).noalias() =
      matrix(fp32_input(dy, kY), rows, shape.out) *
      matrix(fp32_input(weight, kWeight), shape.out, shape.in);
  store(dx, result);
}

void activation_backward(Activation activation, Tensor a, Tensor d) {
  if (!d.is_real()) {
    return;
  }
  const Tensor result = fp32_input(d, kX);
  const Tensor outputs = fp32_input(a, kY);
  const float* output = outputs.fp32();
  float* gradient = result.fp32();
  switch (activation) {
    case Activation::relu:
      for (std::size_t i = 0; i < d.count; ++i) {
        gradient[i] = output[i] <= 0.0F ? 0.0F : gradient[i];
      }
      break;
    case Activation::tanh:
      for (std::size_t i = 0; i < d.count; ++i) {
        gradient[i] *= 1.0F - output[i] * output[i];
      }
      break;
  }
  store(d, result);
}

}  // namespace shardscope
