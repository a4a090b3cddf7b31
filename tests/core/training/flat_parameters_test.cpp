#include "core/training/flat_parameters.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/tensor/kernels.h"

namespace shardscope::testing {
namespace {

Tensor view(std::vector<float>& values) { return Tensor::of(values.data(), values.size()); }

TEST(FlatParameters, ComeBackAsTheyWere) {
  const std::vector<std::vector<std::size_t>> shapes = {{}, {1}, {0, 3, 0}, {5, 7, 1, 0, 30}};
  for (const std::vector<std::size_t>& sizes : shapes) {
    for (const std::size_t padding : {0, 1, 9}) {
      SCOPED_TRACE(std::to_string(sizes.size()) + " tensors, padding " + std::to_string(padding));
      std::vector<std::vector<float>> tensors;
      std::vector<std::vector<float>> restored;
      std::vector<float> expected;
      for (const std::size_t size : sizes) {
        tensors.emplace_back(size);
        restored.emplace_back(size);
        for (float& value : tensors.back()) {
          value = uniform(4, expected.size());
          expected.push_back(value);
        }
      }
      std::vector<Tensor> from;
      std::vector<Tensor> to;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        from.push_back(view(tensors[i]));
        to.push_back(view(restored[i]));
      }
      std::vector<float> flat(expected.size() + padding, 7.0F);
      expected.resize(flat.size());
      flatten_params(from, view(flat));
      EXPECT_EQ(flat, expected);
      unflatten_into(view(flat), to);
      EXPECT_EQ(restored, tensors);
    }
  }
}

TEST(FlatParameters, AreRoundedToTheFlatType) {
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    std::vector<float> a(37);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = uniform(5, i);
    }
    std::vector<std::uint16_t> flat(40, 0xFFFF);
    std::vector<std::uint16_t> rounded(37);
    const Tensor half{reinterpret_cast<std::byte*>(flat.data()), dtype, flat.size()};
    convert({reinterpret_cast<std::byte*>(rounded.data()), dtype, 37}, view(a));
    const std::vector<Tensor> tensors = {view(a).slice(0, 20), view(a).slice(20, 17)};
    flatten_params(tensors, half);
    rounded.resize(40);  // Padding is zero.
    EXPECT_EQ(flat, rounded) << name(dtype);
    std::vector<float> restored(37);
    const std::vector<Tensor> into = {view(restored).slice(0, 20), view(restored).slice(20, 17)};
    unflatten_into(half, into);
    std::vector<float> widened(37);
    convert(view(widened), half.slice(0, 37));
    EXPECT_EQ(restored, widened) << name(dtype);
  }
}

TEST(FlatParametersDeathTest, AbortIfTheyDoNotFit) {
  std::vector<float> a(3);
  std::vector<float> flat(2);
  const std::vector<Tensor> tensors = {view(a)};
  EXPECT_DEATH(flatten_params(tensors, view(flat)), "leaves its tensor");
  EXPECT_DEATH(unflatten_into(view(flat), tensors), "leaves its tensor");
}

}  // namespace
}  // namespace shardscope::testing
