#include "core/nn/adam.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

// Small enough that what a block reads and writes stays in the L1 cache while it is converted.
constexpr std::size_t kBlock = 1024;

struct Coefficients {
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float step_size;
  float inverse_sqrt_bias2;
  float epsilon;
  float l2;     // adam: weight_decay
  float decay;  // adamw: 1 - lr * weight_decay
  float unscale;
  float clip;
};

Coefficients coefficients(const AdamOptions& options, std::int64_t t, GradientScale scale) {
  const bool decoupled = options.variant == AdamOptions::Variant::adamw;
  const double bias1 = 1.0 - std::pow(options.beta1, static_cast<double>(t));
  const double bias2 = 1.0 - std::pow(options.beta2, static_cast<double>(t));
  return {.beta1 = static_cast<float>(options.beta1),
          .one_minus_beta1 = static_cast<float>(1.0 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .one_minus_beta2 = static_cast<float>(1.0 - options.beta2),
          .step_size = static_cast<float>(options.learning_rate / bias1),
          .inverse_sqrt_bias2 = static_cast<float>(1.0 / std::sqrt(bias2)),
          .epsilon = static_cast<float>(options.epsilon),
          .l2 = static_cast<float>(decoupled ? 0.0 : options.weight_decay),
          .decay = static_cast<float>(decoupled ? 1.0 - options.learning_rate * options.weight_decay
                                                : 1.0),
          .unscale = scale.unscale,
          .clip = scale.clip};
}

void update_block(const Coefficients& c, std::size_t count, float* __restrict parameters,
                  const float* __restrict gradients, float* __restrict first_moment,
                  float* __restrict second_moment) {
  for (std::size_t i = 0; i < count; ++i) {
    const float p = parameters[i] * c.decay;
    const float g = gradients[i] * c.unscale * c.clip + c.l2 * p;
    const float m = first_moment[i] * c.beta1 + g * c.one_minus_beta1;
    const float v = second_moment[i] * c.beta2 + c.one_minus_beta2 * g * g;
    first_moment[i] = m;
    second_moment[i] = v;
    parameters[i] = p - c.step_size * (m / (std::sqrt(v) * c.inverse_sqrt_bias2 + c.epsilon));
  }
}

}  // namespace

void adam_update(const AdamOptions& options, std::int64_t t, GradientScale scale,
                 const AdamTensors& tensors) {
  const std::size_t count = tensors.parameters.count;
  SHARDSCOPE_CHECK(tensors.gradients.count == count && tensors.first_moment.count == count &&
                       tensors.second_moment.count == count,
                   "counts differ");
  const bool rounds = tensors.rounded_parameters.count > 0;
  SHARDSCOPE_CHECK(!rounds || tensors.rounded_parameters.count == count, "counts differ");
  if (!tensors.parameters.is_real()) {
    return;
  }
  const Coefficients c = coefficients(options, t, scale);
  std::array<float, kBlock> gradients;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    const float* fp32_gradients = gradients.data();
    if (tensors.gradients.dtype == DType::fp32) {
      fp32_gradients = tensors.gradients.fp32() + begin;
    } else {
      convert(Tensor::of(gradients.data(), length), tensors.gradients.slice(begin, length));
    }
    update_block(c, length, tensors.parameters.fp32() + begin, fp32_gradients,
                 tensors.first_moment.fp32() + begin, tensors.second_moment.fp32() + begin);
    if (rounds) {
      convert(tensors.rounded_parameters.slice(begin, length),
              tensors.parameters.slice(begin, length));
    }
  }
}

}  // namespace shardscope
