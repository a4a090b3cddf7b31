#include "core/tensor/kernels.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/check.h"
#include "core/tensor/half.h"

namespace shardscope {
namespace {

// Calls f with a value of the C++ type of a floating-point dtype.
template <typename F>
void dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::fp32:
      f(float{});
      break;
    case DType::bf16:
      f(BFloat16{});
      break;
    case DType::fp16:
      f(Float16{});
      break;
    case DType::int64:
      break;
  }
}

template <typename T>
T* elements(Tensor tensor) {
  return reinterpret_cast<T*>(tensor.data);
}

}  // namespace

void convert(Tensor destination, Tensor source) {
  SHARDSCOPE_CHECK(destination.count == source.count, "counts differ");
  if (!destination.is_real()) {
    return;
  }
  if (destination.dtype == source.dtype) {
    std::copy_n(source.data, source.bytes(), destination.data);
    return;
  }
  dispatch(destination.dtype, [&](auto to) {
    dispatch(source.dtype, [&](auto from) {
      auto* __restrict results = elements<decltype(to)>(destination);
      const auto* __restrict values = elements<decltype(from)>(source);
      for (std::size_t i = 0; i < source.count; ++i) {
        round_to(to_float(values[i]), results[i]);
      }
    });
  });
}

void add(Tensor accumulator, Tensor addend) {
  SHARDSCOPE_CHECK(accumulator.count == addend.count && accumulator.dtype == addend.dtype,
                   "the addends differ in count or type");
  if (!accumulator.is_real()) {
    return;
  }
  dispatch(accumulator.dtype, [&](auto type) {
    auto* __restrict sums = elements<decltype(type)>(accumulator);
    const auto* __restrict addends = elements<decltype(type)>(addend);
    for (std::size_t i = 0; i < accumulator.count; ++i) {
      round_to(to_float(sums[i]) + to_float(addends[i]), sums[i]);
    }
  });
}

void divide(Tensor values, float divisor) {
  if (!values.is_real()) {
    return;
  }
  dispatch(values.dtype, [&](auto type) {
    auto* quotients = elements<decltype(type)>(values);
    for (std::size_t i = 0; i < values.count; ++i) {
      round_to(to_float(quotients[i]) / divisor, quotients[i]);
    }
  });
}

double sum_of_squares(Tensor values, double scale) {
  constexpr std::size_t kBlock = 1024;
  if (!values.is_real()) {
    return 0.0;
  }
  // One sum would wait for each of its additions.
  std::array<double, kSumLanes> sums{};
  std::array<float, kBlock> block;
  for (std::size_t begin = 0; begin < values.count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, values.count - begin);
    convert(Tensor::of(block.data(), length), values.slice(begin, length));
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(length), block.end(), 0.0F);
    for (std::size_t i = 0; i < kBlock; i += kSumLanes) {
      for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
        const auto value = static_cast<double>(block[i + lane]);
        sums[lane] += value * value;
      }
    }
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0) / (scale * scale);
}

}  // namespace shardscope
