#include "core/tensor/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/check.h"
#include "core/tensor/half.h"

namespace shardscope {
namespace {

// Half types are worked on in fp32, block by block, so that the fp32 copy stays in the L1 cache.
constexpr std::size_t kBlock = 1024;
using Block = std::array<float, kBlock>;

// Calls f(begin, length) for consecutive blocks of [0, count).
template <typename F>
void for_each_block(std::size_t count, F&& f) {
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    f(begin, std::min(kBlock, count - begin));
  }
}

void load(Tensor source, Block& block) {
  load_fp32(source.dtype, source.data, block.data(), source.count);
}

void store(const Block& block, Tensor destination) {
  store_fp32(destination.dtype, block.data(), destination.data, destination.count);
}

void add_fp32(float* __restrict sum, const float* __restrict addend, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    sum[i] += addend[i];
  }
}

void divide_fp32(float* values, std::size_t count, float divisor) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] /= divisor;
  }
}

}  // namespace

void set_zero(Tensor values) {
  if (values.is_real()) {
    std::memset(values.data, 0, values.bytes());
  }
}

void convert(Tensor destination, Tensor source) {
  SHARDSCOPE_CHECK(destination.count == source.count, "counts differ");
  if (!destination.is_real() || source.count == 0) {  // An empty source may be null.
    return;
  }
  if (destination.dtype == source.dtype) {
    std::memcpy(destination.data, source.data, source.bytes());
  } else if (destination.dtype == DType::fp32) {
    load_fp32(source.dtype, source.data, destination.fp32(), source.count);
  } else if (source.dtype == DType::fp32) {
    store_fp32(destination.dtype, source.fp32(), destination.data, source.count);
  } else {
    Block block;
    for_each_block(source.count, [&](std::size_t begin, std::size_t length) {
      load(source.slice(begin, length), block);
      store(block, destination.slice(begin, length));
    });
  }
}

void add(Tensor accumulator, Tensor addend) {
  SHARDSCOPE_CHECK(accumulator.count == addend.count, "counts differ");
  if (!accumulator.is_real()) {
    return;
  }
  if (accumulator.dtype == DType::fp32 && addend.dtype == DType::fp32) {
    add_fp32(accumulator.fp32(), addend.fp32(), addend.count);
    return;
  }
  Block sum;
  Block term;
  for_each_block(addend.count, [&](std::size_t begin, std::size_t length) {
    load(accumulator.slice(begin, length), sum);
    load(addend.slice(begin, length), term);
    add_fp32(sum.data(), term.data(), length);
    store(sum, accumulator.slice(begin, length));
  });
}

void divide(Tensor values, float divisor) {
  if (!values.is_real()) {
    return;
  }
  if (values.dtype == DType::fp32) {
    divide_fp32(values.fp32(), values.count, divisor);
    return;
  }
  Block block;
  for_each_block(values.count, [&](std::size_t begin, std::size_t length) {
    load(values.slice(begin, length), block);
    divide_fp32(block.data(), length, divisor);
    store(block, values.slice(begin, length));
  });
}

bool is_finite(Tensor values) {
  bool finite = true;
  if (!values.is_real()) {
    return finite;
  }
  Block block;
  for_each_block(values.count, [&](std::size_t begin, std::size_t length) {
    load(values.slice(begin, length), block);
    for (std::size_t i = 0; i < length; ++i) {
      finite = finite && std::isfinite(block[i]);
    }
  });
  return finite;
}

double sum_of_squares(Tensor values) {
  // Independent sums, so that several additions can be under way at once.
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  if (!values.is_real()) {
    return 0.0;
  }
  Block block;
  for_each_block(values.count, [&](std::size_t begin, std::size_t length) {
    load(values.slice(begin, length), block);
    std::fill(block.begin() + length, block.begin() + (length + kLanes - 1) / kLanes * kLanes,
              0.0F);
    for (std::size_t i = 0; i < length; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto value = static_cast<double>(block[i + lane]);
        lanes[lane] += value * value;
      }
    }
  });
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

}  // namespace shardscope
