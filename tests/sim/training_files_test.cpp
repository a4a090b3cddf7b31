// Weights and batches from files, checked against a model.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/files/batches.h"
#include "sim/files/weights.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

using Faults = std::vector<std::string>;

const ModelSpec kModel = {{2, 3, 1}, Activation::relu, Loss::mse};
const ModelSpec kClassifier = {{2, 3}, Activation::relu, Loss::cross_entropy};

struct Named {
  SafetensorsTensor tensor;
  std::vector<float> values;
};

/// Tensors of F32 (other types: zeros), counted 0, 1, 2, ... unless values are given.
std::string write_tensors(const TemporaryFolder& folder, const std::vector<Named>& tensors) {
  std::vector<SafetensorsTensor> headers;
  for (const Named& named : tensors) {
    headers.push_back(named.tensor);
  }
  SafetensorsWriter writer(folder.path("f"), headers);
  for (const Named& named : tensors) {
    std::size_t count = 1;
    for (const std::uint64_t extent : named.tensor.shape) {
      count *= extent;
    }
    std::vector<float> values = named.values;
    if (values.empty()) {
      values.resize(count);
      std::iota(values.begin(), values.end(), 0.0F);
    }
    std::vector<char> zeros(count * size_of(named.tensor.dtype));
    const bool fp32 = named.tensor.dtype == DType::fp32;
    writer.write(fp32 ? static_cast<const void*>(values.data()) : zeros.data(), zeros.size());
  }
  EXPECT_EQ(writer.finish(), std::nullopt);
  return folder.path("f");
}

std::vector<Named> model_tensors() {
  return {{{"layers.0.weight", DType::fp32, {3, 2}}, {}},
          {{"layers.0.bias", DType::fp32, {3}}, {}},
          {{"layers.1.weight", DType::bf16, {1, 3}}, {}},
          {{"layers.1.bias", DType::fp16, {1}}, {}}};
}

Faults weights_faults(const std::vector<Named>& tensors) {
  const TemporaryFolder folder;
  Faults faults;
  EXPECT_EQ(WeightsFile::open(write_tensors(folder, tensors), kModel, faults), nullptr);
  for (std::string& fault : faults) {
    fault.erase(0, folder.path("f").size() + 2);
  }
  return faults;
}

TEST(WeightsFileTest, ReadsAnyPartOfAnyLayer) {
  const TemporaryFolder folder;
  Faults faults;
  const auto weights = WeightsFile::open(write_tensors(folder, model_tensors()), kModel, faults);
  ASSERT_TRUE(weights) << faults.front();
  std::array<float, 4> values{};
  EXPECT_EQ(weights->read(0, LayerTensor::weight, 1, 4, values.data()), std::nullopt);
  EXPECT_EQ(values, (std::array<float, 4>{1, 2, 3, 4}));
  EXPECT_EQ(weights->read(0, LayerTensor::bias, 2, 1, values.data()), std::nullopt);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(weights->read(1, LayerTensor::weight, 0, 3, values.data()), std::nullopt);
  EXPECT_EQ(values, (std::array<float, 4>{0, 0, 0, 4}));
}

TEST(WeightsFileTest, ReportsEveryFault) {
  EXPECT_EQ(weights_faults({{{"layers.0.weight", DType::fp32, {2, 3}}, {}},
                            {{"layers.0.bias", DType::int64, {3}}, {}},
                            {{"layers.1.wieght", DType::fp32, {1, 3}}, {}},
                            {{"embedding", DType::fp32, {1}}, {}}}),
            (Faults{
                "tensor \"layers.0.weight\": shape [2, 3]; expected [3, 2] [out, in]",
                "tensor \"layers.0.bias\": dtype I64; allowed: F32, F16, BF16",
                "tensor \"layers.1.weight\": missing; expected F32, F16, BF16 of shape [1, 3] "
                "[out, in]",
                "tensor \"layers.1.bias\": missing; expected F32, F16, BF16 of shape [1] [out]",
                "tensor \"layers.1.wieght\": unknown; did you mean \"layers.1.weight\"?",
                "tensor \"embedding\": unknown",
            }));
}

TEST(WeightsFileTest, CountsUnknownTensorsBeyondTwenty) {
  std::vector<Named> tensors = model_tensors();
  for (int i = 0; i < 25; ++i) {
    tensors.push_back({{"x" + std::to_string(i), DType::fp32, {1}}, {}});
  }
  const Faults faults = weights_faults(tensors);
  ASSERT_EQ(faults.size(), 21U);
  EXPECT_EQ(faults.back(), "5 more unknown tensors");
}

TEST(WeightsFileTest, RefusesNumbersThatAreNotFinite) {
  std::vector<Named> tensors = model_tensors();
  tensors[0].values = {0, 0, 0, 0, 0, std::nanf("")};
  tensors[1].values = {0, -std::numeric_limits<float>::infinity(), 0};
  EXPECT_EQ(weights_faults(tensors),
            (Faults{"tensor \"layers.0.weight\": element [2, 1] is NaN; allowed are finite numbers",
                    "tensor \"layers.0.bias\": element [1] is infinite; allowed are finite "
                    "numbers"}));
}

TEST(WeightsFileTest, AFileThatIsNoneIsAFault) {
  Faults faults;
  EXPECT_EQ(WeightsFile::open("/nowhere/f", kModel, faults), nullptr);
  EXPECT_EQ(faults, Faults{"/nowhere/f: cannot be opened: No such file or directory"});
}

TEST(BatchesFileTest, ReadsRowsOfAStep) {
  const TemporaryFolder folder;
  const std::string path = write_tensors(
      folder, {{{"x", DType::fp32, {3, 4, 2}}, {}}, {{"y", DType::fp32, {3, 4, 1}}, {}}});
  Faults faults;
  const auto batches = BatchesFile::open(path, kModel, 2, 4, faults);
  ASSERT_TRUE(batches) << faults.front();
  std::array<float, 4> x{};
  std::array<float, 2> y{};
  EXPECT_EQ(batches->read(1, 2, 2, x.data(), y.data()), std::nullopt);
  EXPECT_EQ(x, (std::array<float, 4>{12, 13, 14, 15}));
  EXPECT_EQ(y, (std::array<float, 2>{6, 7}));
}

TEST(BatchesFileTest, ReadsLabelsAndChecksTheirRange) {
  const TemporaryFolder folder;
  const auto write_labels = [&](const std::array<std::int64_t, 4>& labels) {
    SafetensorsWriter writer(folder.path("f"),
                             {{"x", DType::fp32, {2, 2, 2}}, {"y", DType::int64, {2, 2}}});
    const std::array<float, 8> x = {0, 1, 2, 3, 4, 5, 6, 7};
    writer.write(x.data(), sizeof x);
    writer.write(labels.data(), sizeof labels);
    EXPECT_EQ(writer.finish(), std::nullopt);
  };
  Faults faults;
  write_labels({0, 1, 2, 0});
  const auto batches = BatchesFile::open(folder.path("f"), kClassifier, 2, 2, faults);
  ASSERT_TRUE(batches) << faults.front();
  std::array<float, 2> x{};
  std::int64_t label = 0;
  EXPECT_EQ(batches->read(1, 0, 1, x.data(), &label), std::nullopt);
  EXPECT_EQ(x, (std::array<float, 2>{4, 5}));
  EXPECT_EQ(label, 2);

  write_labels({0, 1, 3, -1});
  EXPECT_EQ(BatchesFile::open(folder.path("f"), kClassifier, 2, 2, faults), nullptr);
  EXPECT_EQ(faults, Faults{folder.path("f") +
                           ": tensor \"y\": element [1, 0] is the label 3; allowed are 0 to 2"});
}

TEST(BatchesFileTest, ReportsEveryFault) {
  const TemporaryFolder folder;
  const std::string path = write_tensors(
      folder, {{{"x", DType::fp32, {2, 8, 2}}, {}}, {{"Y", DType::fp32, {3, 4}}, {}}});
  Faults faults;
  EXPECT_EQ(BatchesFile::open(path, kModel, 3, 4, faults), nullptr);
  EXPECT_EQ(faults,
            (Faults{path + ": tensor \"x\": shape [2, 8, 2]; expected at least [3, 4, 2] [steps, "
                           "global_batch, in]",
                    path + ": tensor \"y\": missing; expected F32, F16, BF16 of shape at least "
                           "[3, 4, 1] [steps, global_batch, out]",
                    path + ": tensor \"Y\": unknown; did you mean \"y\"?"}));
}

}  // namespace
}  // namespace shardscope
