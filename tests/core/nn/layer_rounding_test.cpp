// Layers on integers, whose products and sums are exact in fp32: what is left is one rounding of
// each named result, so that every bit is known.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "core/tensor/kernels.h"
#include "tests/core/support/half.h"

namespace shardscope::testing {
namespace {

constexpr DType kTypes[] = {DType::fp32, DType::bf16, DType::fp16};

// A tensor of any floating-point type and its values in fp64.
class Values {
 public:
  Values(DType dtype, std::size_t count)
      : dtype_(dtype), count_(count), bytes_(count * size_of(dtype)) {}

  static Values integers(DType dtype, std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(splitmix64(seed, i) % 19) - 9.0F;
    }
    return of(dtype, values);
  }

  static Values of(DType dtype, std::vector<float> values) {
    Values result(dtype, values.size());
    convert(result.tensor(), Tensor::of(values.data(), values.size()));
    return result;
  }

  Tensor tensor() { return {bytes_.data(), dtype_, count_}; }

  double operator[](std::size_t i) const {
    if (dtype_ == DType::fp32) {
      float value = 0;
      std::memcpy(&value, bytes_.data() + 4 * i, 4);
      return value;
    }
    std::uint16_t half = 0;
    std::memcpy(&half, bytes_.data() + 2 * i, 2);
    return decode_half(dtype_, half);
  }

 private:
  DType dtype_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

struct Layer {
  LinearShape shape;
  std::size_t rows;
};

constexpr Layer kLayers[] = {{{1, 1}, 1},   {{5, 1}, 3},   {{1, 7}, 2},    {{40, 30}, 1},
                             {{33, 17}, 9}, {{64, 64}, 8}, {{130, 70}, 65}};

template <typename F>
void for_each_layer(F&& f) {
  for (const DType dtype : kTypes) {
    for (const Layer& layer : kLayers) {
      SCOPED_TRACE(std::string(name(dtype)) + " [" + std::to_string(layer.shape.out) + ", " +
                   std::to_string(layer.shape.in) + "], rows " + std::to_string(layer.rows));
      f(dtype, layer.shape, layer.rows);
    }
  }
}

TEST(LayerRounding, ForwardRoundsTheSumAndThenTheActivation) {
  for_each_layer([](DType dtype, LinearShape shape, std::size_t rows) {
    Values x = Values::integers(dtype, rows * shape.in, 1);
    Values parameters = Values::integers(dtype, shape.elements(), 2);
    Values y(dtype, rows * shape.out);
    Values activated(dtype, rows * shape.out);
    linear_forward(shape, rows, std::nullopt, x.tensor(),
                   LinearTensors::together(shape, parameters.tensor()), y.tensor());
    linear_forward(shape, rows, Activation::relu, x.tensor(),
                   LinearTensors::together(shape, parameters.tensor()), activated.tensor());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t o = 0; o < shape.out; ++o) {
        double sum = parameters[shape.weight_elements() + o];
        for (std::size_t i = 0; i < shape.in; ++i) {
          sum += x[r * shape.in + i] * parameters[o * shape.in + i];
        }
        const std::size_t at = r * shape.out + o;
        ASSERT_EQ(y[at], nearest(dtype, sum)) << "row " << r << ", output " << o;
        ASSERT_EQ(activated[at], std::max(0.0, y[at])) << "row " << r << ", output " << o;
      }
    }
    linear_forward(shape, rows, Activation::tanh, x.tensor(),
                   LinearTensors::together(shape, parameters.tensor()), activated.tensor());
    for (std::size_t at = 0; at < rows * shape.out; ++at) {
      const double of_rounded = std::tanh(static_cast<float>(y[at]));
      ASSERT_NEAR(activated[at], nearest(dtype, of_rounded), dtype == DType::fp32 ? 2e-7 : 0.0)
          << "output " << at;
    }
  });
}

TEST(LayerRounding, BackwardRoundsEachGradientOnce) {
  for_each_layer([](DType dtype, LinearShape shape, std::size_t rows) {
    Values x = Values::integers(dtype, rows * shape.in, 3);
    Values dy = Values::integers(dtype, rows * shape.out, 4);
    Values parameters = Values::integers(dtype, shape.elements(), 5);
    Values gradient(dtype, shape.elements());
    Values dx(dtype, rows * shape.in);
    linear_backward_parameters(shape, rows, x.tensor(), dy.tensor(),
                               LinearTensors::together(shape, gradient.tensor()));
    linear_backward_input(shape, rows, dy.tensor(),
                          LinearTensors::together(shape, parameters.tensor()).weight, dx.tensor());
    for (std::size_t o = 0; o < shape.out; ++o) {
      double bias = 0.0;
      for (std::size_t r = 0; r < rows; ++r) {
        bias += dy[r * shape.out + o];
      }
      ASSERT_EQ(gradient[shape.weight_elements() + o], nearest(dtype, bias)) << "bias " << o;
      for (std::size_t i = 0; i < shape.in; ++i) {
        double sum = 0.0;
        for (std::size_t r = 0; r < rows; ++r) {
          sum += dy[r * shape.out + o] * x[r * shape.in + i];
        }
        ASSERT_EQ(gradient[o * shape.in + i], nearest(dtype, sum)) << "weight " << o << ", " << i;
      }
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < shape.in; ++i) {
        double sum = 0.0;
        for (std::size_t o = 0; o < shape.out; ++o) {
          sum += dy[r * shape.out + o] * parameters[o * shape.in + i];
        }
        ASSERT_EQ(dx[r * shape.in + i], nearest(dtype, sum)) << "row " << r << ", input " << i;
      }
    }
  });
}

TEST(LayerRounding, ActivationsDerivativeComesFromItsOutput) {
  for (const DType dtype : kTypes) {
    const Values a = Values::of(dtype, {0.0F, -0.0F, 0.25F, 1.0F, -1.0F, 0.3F, 0x1p-20F});
    const std::vector<float> d = {3.0F, 3.0F, 3.0F, 3.0F, 3.0F, 0.7F, 0.9F};
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      Values outputs = a;
      Values result = Values::of(dtype, d);
      const Values before = result;
      activation_backward(activation, outputs.tensor(), result.tensor());
      for (std::size_t i = 0; i < d.size(); ++i) {
        const auto output = static_cast<float>(a[i]);
        const float slope =
            activation == Activation::relu ? (output > 0.0F ? 1.0F : 0.0F) : 1.0F - output * output;
        EXPECT_EQ(result[i], nearest(dtype, static_cast<float>(before[i]) * slope))
            << name(dtype) << ", element " << i;
      }
    }
  }
}

TEST(LayerRounding, MseGradientIsRoundedOnce) {
  for (const DType dtype : kTypes) {
    Values outputs = Values::integers(dtype, 15, 6);
    std::vector<float> y(15);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = uniform(7, i);
    }
    Values d(dtype, 15);
    loss_backward(Loss::mse, 3, 5, 1024.0, outputs.tensor(), Tensor::of(y.data(), 15), d.tensor());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double exact = (outputs[i] - static_cast<double>(y[i])) * (2.0 * 1024.0 / 15.0);
      EXPECT_EQ(d[i], nearest(dtype, exact)) << name(dtype) << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
