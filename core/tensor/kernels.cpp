#include "core/tensor/kernels.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/tensor/eigen_types.h"

namespace shardscope {
namespace {

// Half types are worked on in fp32, block by block, so that the fp32 copy stays in the L1 cache.
constexpr std::size_t kBlock = 1024;

template <typename T>
ArrayMap<T> map(Tensor tensor, std::size_t begin, std::size_t length) {
  return {reinterpret_cast<T*>(tensor.data) + begin, static_cast<Eigen::Index>(length)};
}

/// Calls f(begin, length) for consecutive blocks of [0, count).
template <typename F>
void for_each_block(std::size_t count, F&& f) {
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    f(begin, std::min(kBlock, count - begin));
  }
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
      using To = decltype(to);
      using From = decltype(from);
      for_each_block(source.count, [&](std::size_t begin, std::size_t length) {
        map<To>(destination, begin, length) =
            map<From>(source, begin, length).template cast<float>().template cast<To>();
      });
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
    using T = decltype(type);
    auto sum = map<T>(accumulator, 0, accumulator.count);
    sum = (sum.template cast<float>() + map<T>(addend, 0, addend.count).template cast<float>())
              .template cast<T>();
  });
}

void divide(Tensor values, float divisor) {
  if (!values.is_real()) {
    return;
  }
  dispatch(values.dtype, [&](auto type) {
    using T = decltype(type);
    auto array = map<T>(values, 0, values.count);
    array = (array.template cast<float>() / divisor).template cast<T>();
  });
}

double sum_of_squares(Tensor values, double scale) {
  double sum = 0.0;
  if (!values.is_real()) {
    return sum;
  }
  std::array<float, kBlock> block;
  for_each_block(values.count, [&](std::size_t begin, std::size_t length) {
    const Tensor fp32 = Tensor::of(block.data(), length);
    convert(fp32, values.slice(begin, length));
    for (std::size_t i = 0; i < length; ++i) {
      const double value = static_cast<double>(block[i]) / scale;
      sum += value * value;
    }
  });
  return sum;
}

}  // namespace shardscope
