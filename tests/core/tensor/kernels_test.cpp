// One rounding each, to nearest, ties to even: conversions over all bit patterns of the half types,
// sums and quotients against fp64, and nothing that depends on where in memory a value lies.

#include "core/tensor/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "tests/core/support/half.h"

namespace shardscope::testing {
namespace {

constexpr DType kHalfTypes[] = {DType::bf16, DType::fp16};
constexpr std::size_t kPatterns = 65536;

using Halves = std::vector<std::uint16_t>;

Tensor view(Halves& values, DType dtype) {
  return {reinterpret_cast<std::byte*>(values.data()), dtype, values.size()};
}

Tensor view(std::vector<float>& values) { return Tensor::of(values.data(), values.size()); }

Halves all_patterns() {
  Halves patterns(kPatterns);
  for (std::size_t i = 0; i < kPatterns; ++i) {
    patterns[i] = static_cast<std::uint16_t>(i);
  }
  return patterns;
}

std::vector<float> widened(Halves halves, DType dtype) {
  std::vector<float> values(halves.size());
  convert(view(values), view(halves, dtype));
  return values;
}

Halves narrowed(std::vector<float> values, DType dtype) {
  Halves halves(values.size());
  convert(view(halves, dtype), view(values));
  return halves;
}

// The same number: equal, with the same sign of zero, or both NaN.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Checks that the half is the value correctly rounded.
void expect_rounded(DType dtype, std::uint16_t half, double value) {
  const double result = decode_half(dtype, half);
  const double expected = nearest(dtype, value);
  EXPECT_TRUE(same(result, expected)) << name(dtype) << " of " << std::hexfloat << value << " is "
                                      << result << ", not " << expected;
}

TEST(Convert, EveryHalfValueWidensExactlyAndComesBack) {
  for (const DType dtype : kHalfTypes) {
    const Halves patterns = all_patterns();
    const std::vector<float> values = widened(patterns, dtype);
    const Halves back = narrowed(values, dtype);
    for (std::size_t i = 0; i < kPatterns; ++i) {
      EXPECT_TRUE(same(values[i], decode_half(dtype, patterns[i])))
          << name(dtype) << " pattern " << i << " is " << values[i];
      if (is_nan_half(dtype, patterns[i])) {
        EXPECT_TRUE(is_nan_half(dtype, back[i])) << name(dtype) << " NaN " << i << " is lost";
      } else {
        EXPECT_EQ(back[i], patterns[i]) << name(dtype);
      }
    }
  }
}

// Between each two neighbours: the tie, and the fp32 numbers next to it on either side.
TEST(Convert, RoundsToNearestAndTiesToEven) {
  for (const DType dtype : kHalfTypes) {
    std::vector<float> values;
    for (std::size_t i = 0; i + 1 < kPatterns; ++i) {
      const double low = decode_half(dtype, static_cast<std::uint16_t>(i));
      const double high = decode_half(dtype, static_cast<std::uint16_t>(i + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) {
        continue;
      }
      const auto middle = static_cast<float>((low + high) / 2);
      const float infinity = std::numeric_limits<float>::infinity();
      values.insert(values.end(),
                    {middle, std::nextafter(middle, infinity), std::nextafter(middle, -infinity)});
    }
    ASSERT_GT(values.size(), 180000U);
    const Halves halves = narrowed(values, dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expect_rounded(dtype, halves[i], values[i]);
    }
  }
}

TEST(Convert, OverflowsToInfinityAndUnderflowsToZero) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  for (const DType dtype : kHalfTypes) {
    std::vector<float> values = {
        0.0F,        largest,         smallest,    65504.0F,
        65519.996F,  65520.0F,        0x1p-24F,    0x1p-25F,
        0x1.8p-25F,  0x1p-134F,       0x1p-133F,   0x1.8p-134F,
        0x1.FEp127F, 0x1.FEFFFEp127F, 0x1.FFp127F, std::numeric_limits<float>::infinity()};
    for (std::size_t i = values.size(); i-- > 0;) {
      values.push_back(-values[i]);
    }
    const Halves halves = narrowed(values, dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expect_rounded(dtype, halves[i], values[i]);
    }
  }
}

TEST(Convert, RoundsRandomBitPatterns) {
  constexpr std::uint64_t kSeed = 11;
  std::vector<float> values(200000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(splitmix64(kSeed, i)));
  }
  for (const DType dtype : kHalfTypes) {
    const Halves halves = narrowed(values, dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expect_rounded(dtype, halves[i], values[i]);
    }
  }
}

TEST(Convert, BetweenHalfTypesRoundsOnce) {
  for (const auto& [to, from] : {std::pair(DType::bf16, DType::fp16), {DType::fp16, DType::bf16}}) {
    Halves source = all_patterns();
    Halves destination(kPatterns);
    convert(view(destination, to), view(source, from));
    for (std::size_t i = 0; i < kPatterns; ++i) {
      expect_rounded(to, destination[i], decode_half(from, source[i]));
    }
  }
}

// All patterns, against a partner drawn from all patterns.
TEST(Add, RoundsEachSumOnce) {
  constexpr std::uint64_t kSeed = 12;
  for (const DType dtype : kHalfTypes) {
    for (std::uint64_t repeat = 0; repeat < 4; ++repeat) {
      const Halves a = all_patterns();
      Halves b(kPatterns);
      for (std::size_t i = 0; i < kPatterns; ++i) {
        // Half of the partners are near in magnitude: there sums round.
        const auto random = static_cast<std::uint16_t>(splitmix64(kSeed + repeat, i));
        b[i] = repeat % 2 == 0 ? random : static_cast<std::uint16_t>(a[i] ^ (random & 0x8FFF));
      }
      Halves sum = a;
      add(view(sum, dtype), view(b, dtype));
      for (std::size_t i = 0; i < kPatterns; ++i) {
        const double exact = decode_half(dtype, a[i]) + decode_half(dtype, b[i]);
        expect_rounded(dtype, sum[i], exact);
      }
    }
  }
  std::vector<float> sum = {0x1p24F, 1.0F, 0.1F, -0.0F};
  std::vector<float> addend = {1.0F, 0x1p-24F, 0.2F, -0.0F};
  add(view(sum), view(addend));
  EXPECT_EQ(sum, (std::vector<float>{0x1p24F, 1.0F, 0.1F + 0.2F, -0.0F}));
}

TEST(Divide, RoundsEachQuotientOnce) {
  for (const DType dtype : kHalfTypes) {
    for (const int divisor : {1, 2, 3, 5, 7, 8, 9, 64, 100}) {
      const Halves values = all_patterns();
      Halves quotients = values;
      divide(view(quotients, dtype), static_cast<float>(divisor));
      for (std::size_t i = 0; i < kPatterns; ++i) {
        expect_rounded(dtype, quotients[i], decode_half(dtype, values[i]) / divisor);
      }
    }
  }
  std::vector<float> values = {1.0F, 10.0F, -2.0F, 0x1p-149F};
  divide(view(values), 3.0F);
  EXPECT_EQ(values, (std::vector<float>{1.0F / 3.0F, 10.0F / 3.0F, -2.0F / 3.0F, 0.0F}));
}

// The same values at another address, alone or among others, give the same bits.
TEST(Kernels, DoNotDependOnAlignmentOrLength) {
  constexpr std::size_t kCount = 2100;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    std::vector<float> random(kCount);
    std::vector<float> other(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      random[i] = uniform(13, i);
      other[i] = uniform(14, i);
    }
    const std::size_t size = size_of(dtype);
    std::vector<std::byte> a(kCount * size);
    std::vector<std::byte> b(kCount * size);
    convert({a.data(), dtype, kCount}, view(random));
    convert({b.data(), dtype, kCount}, view(other));
    std::vector<std::byte> whole = a;
    add({whole.data(), dtype, kCount}, {b.data(), dtype, kCount});
    divide({whole.data(), dtype, kCount}, 3.0F);
    for (std::size_t offset = 0; offset < 17; ++offset) {
      for (const std::size_t length : {1, 2, 7, 16, 33, 1023, 1024, 1025, 2050}) {
        std::vector<std::byte> part = a;
        const Tensor sum = Tensor{part.data(), dtype, kCount}.slice(offset, length);
        add(sum, Tensor{b.data(), dtype, kCount}.slice(offset, length));
        divide(sum, 3.0F);
        EXPECT_EQ(std::memcmp(sum.data, whole.data() + offset * size, length * size), 0)
            << name(dtype) << ", " << length << " from " << offset;
      }
    }
  }
}

TEST(SumOfSquares, AddsEverySquareInFp64) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8},
                                  std::size_t{1023}, std::size_t{1025}, std::size_t{5000}}) {
    std::vector<float> values(count);
    std::array<double, 8> lanes{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = uniform(15, i);
      lanes[i % 8] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    EXPECT_EQ(sum_of_squares(view(values)), std::accumulate(lanes.begin(), lanes.end(), 0.0))
        << count << " values";
  }
  EXPECT_EQ(sum_of_squares({nullptr, DType::fp32, 5000}), 0.0);
}

TEST(Kernels, LeaveShapeOnlyTensorsAlone) {
  const Tensor nothing{nullptr, DType::bf16, 1000};
  convert(nothing, nothing);
  add(nothing, nothing);
  divide(nothing, 2.0F);
}

TEST(KernelsDeathTest, AbortOnCountsThatDiffer) {
  std::vector<float> values(3);
  EXPECT_DEATH(convert(view(values), view(values).slice(0, 2)), "counts differ");
  EXPECT_DEATH(add(view(values), view(values).slice(0, 2)), "counts differ");
}

}  // namespace
}  // namespace shardscope::testing
