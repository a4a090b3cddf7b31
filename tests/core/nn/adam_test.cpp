#include "core/nn/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/tensor/kernels.h"

namespace shardscope::testing {
namespace {

struct State {
  std::vector<float> p, g, m, v;

  explicit State(std::size_t count) : p(count), g(count), m(count), v(count) {}

  AdamTensors tensors(std::size_t begin, std::size_t count) {
    const auto part = [&](std::vector<float>& all) {
      return Tensor::of(all.data(), all.size()).slice(begin, count);
    };
    return {.parameters = part(p),
            .gradients = part(g),
            .first_moment = part(m),
            .second_moment = part(v),
            .rounded_parameters = {}};
  }
};

// Gradients of very different sizes, zeros among them.
float gradient(std::int64_t t, std::size_t i) {
  const auto seed = static_cast<std::uint64_t>(t);
  return i % 11 == 10
             ? 0.0F
             : uniform(seed, i) * std::ldexp(1.0F, -static_cast<int>(splitmix64(9, i) % 20));
}

std::vector<AdamOptions> all_options() {
  using Variant = AdamOptions::Variant;
  return {
      {.variant = Variant::adam},
      {.variant = Variant::adam, .weight_decay = 0.01},
      {.variant = Variant::adamw, .weight_decay = 0.01},
      {.variant = Variant::adamw, .learning_rate = 0.1, .weight_decay = 0.5},
      {.variant = Variant::adam, .learning_rate = 0.5, .beta1 = 0.0, .beta2 = 0.5, .epsilon = 1e-3},
      {.variant = Variant::adam, .beta1 = 0.99, .beta2 = 0.9, .epsilon = 1e-12}};
}

// The equations of the papers, in fp64.
void reference_step(const AdamOptions& o, std::int64_t t, double g, double& p, double& m,
                    double& v) {
  if (o.variant == AdamOptions::Variant::adamw) {
    p -= o.learning_rate * o.weight_decay * p;
  } else {
    g += o.weight_decay * p;
  }
  m = o.beta1 * m + (1 - o.beta1) * g;
  v = o.beta2 * v + (1 - o.beta2) * g * g;
  const auto step = static_cast<double>(t);
  const double corrected_m = m / (1 - std::pow(o.beta1, step));
  const double corrected_v = v / (1 - std::pow(o.beta2, step));
  p -= o.learning_rate * corrected_m / (std::sqrt(corrected_v) + o.epsilon);
}

TEST(Adam, FollowsTheEquationsInFp64) {
  constexpr std::size_t kCount = 3000;
  constexpr std::int64_t kSteps = 20;
  int number = 0;
  for (const AdamOptions& options : all_options()) {
    for (const double loss_scale : {1.0, 1024.0}) {
      SCOPED_TRACE("options " + std::to_string(number) + ", loss scale " +
                   std::to_string(loss_scale));
      State state(kCount);
      std::vector<double> p(kCount), m(kCount), v(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        p[i] = state.p[i] = uniform(1, i);
      }
      for (std::int64_t t = 1; t <= kSteps; ++t) {
        for (std::size_t i = 0; i < kCount; ++i) {
          const float g = gradient(t, i);
          state.g[i] = g * static_cast<float>(loss_scale);
          reference_step(options, t, g, p[i], m[i], v[i]);
        }
        adam_update(options, t, GradientScale::of_loss_scale(loss_scale), state.tensors(0, kCount));
      }
      // Each step rounds the parameter (half an ulp of at most |p| + lr) and its change.
      for (std::size_t i = 0; i < kCount; ++i) {
        const double change = static_cast<double>(kSteps) * options.learning_rate;
        const double ulps = static_cast<double>(kSteps) * 0x1p-24;
        EXPECT_NEAR(state.p[i], p[i], ulps * (std::abs(p[i]) + change + 4 * options.learning_rate))
            << "parameter " << i;
        EXPECT_NEAR(state.m[i], m[i], 2e-6 * std::abs(m[i]) + 1e-7) << "first moment " << i;
        EXPECT_NEAR(state.v[i], v[i], 4e-6 * std::abs(v[i]) + 1e-12) << "second moment " << i;
      }
    }
    ++number;
  }
}

// Shards are cut anywhere: an element's update must not depend on its neighbours or its address.
TEST(Adam, DoesNotDependOnAlignmentOrLength) {
  constexpr std::size_t kCount = 2200;
  const AdamOptions options{.variant = AdamOptions::Variant::adamw, .weight_decay = 0.01};
  State initial(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    initial.p[i] = uniform(1, i);
    initial.g[i] = gradient(1, i);
    initial.m[i] = uniform(2, i) * 0.1F;
    initial.v[i] = std::abs(uniform(3, i)) * 0.01F;
  }
  State alone = initial;
  for (std::size_t i = 0; i < kCount; ++i) {
    adam_update(options, 3, GradientScale::of_loss_scale(8.0), alone.tensors(i, 1));
  }
  for (std::size_t offset = 0; offset < 17; ++offset) {
    for (const std::size_t length : {2, 7, 8, 9, 33, 1023, 1024, 1025, 2100}) {
      State part = initial;
      adam_update(options, 3, GradientScale::of_loss_scale(8.0), part.tensors(offset, length));
      const auto same = [&](const std::vector<float>& a, const std::vector<float>& b) {
        return std::memcmp(a.data() + offset, b.data() + offset, 4 * length) == 0;
      };
      EXPECT_TRUE(same(part.p, alone.p) && same(part.m, alone.m) && same(part.v, alone.v))
          << length << " from " << offset;
      EXPECT_EQ(part.p[offset + length], initial.p[offset + length]) << "wrote beyond its part";
    }
  }
}

TEST(Adam, ReadsHalfGradientsAsTheirFp32Values) {
  constexpr std::size_t kCount = 1500;
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    State state(kCount);
    std::vector<std::byte> half(kCount * 2);
    const Tensor half_gradients{half.data(), dtype, kCount};
    for (std::size_t i = 0; i < kCount; ++i) {
      state.p[i] = uniform(1, i);
      state.g[i] = uniform(2, i);
    }
    convert(half_gradients, state.tensors(0, kCount).gradients);
    convert(state.tensors(0, kCount).gradients, half_gradients);
    State same = state;
    adam_update({}, 1, GradientScale::of_loss_scale(16.0), state.tensors(0, kCount));
    AdamTensors tensors = same.tensors(0, kCount);
    tensors.gradients = half_gradients;
    adam_update({}, 1, GradientScale::of_loss_scale(16.0), tensors);
    EXPECT_EQ(same.p, state.p) << name(dtype);
    EXPECT_EQ(same.m, state.m) << name(dtype);
    EXPECT_EQ(same.v, state.v) << name(dtype);
  }
}

TEST(Adam, WritesTheRoundedParametersBesideTheNewOnes) {
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    for (const std::size_t count : {1, 7, 1023, 1024, 1500}) {
      State state(count);
      for (std::size_t i = 0; i < count; ++i) {
        state.p[i] = uniform(1, i);
        state.g[i] = uniform(2, i);
      }
      std::vector<std::uint16_t> rounded(count);
      std::vector<std::uint16_t> expected(count);
      AdamTensors tensors = state.tensors(0, count);
      tensors.rounded_parameters = {reinterpret_cast<std::byte*>(rounded.data()), dtype, count};
      adam_update({}, 1, GradientScale::of_loss_scale(1.0), tensors);
      convert({reinterpret_cast<std::byte*>(expected.data()), dtype, count}, tensors.parameters);
      EXPECT_EQ(rounded, expected) << count << " " << name(dtype);
    }
  }
}

TEST(Adam, LeavesShapeOnlyTensorsAlone) {
  const Tensor nothing{nullptr, DType::fp32, 1000};
  adam_update({}, 1, GradientScale::of_loss_scale(1.0),
              {nothing, {nullptr, DType::bf16, 1000}, nothing, nothing, {}});
}

}  // namespace
}  // namespace shardscope::testing
