#include "sim/files/weights.h"

#include <utility>

#include "core/check.h"
#include "sim/files/tensor_checks.h"

namespace shardscope {
namespace {

std::vector<ExpectedTensor> expected_tensors(const ModelSpec& model) {
  std::vector<ExpectedTensor> expected;
  for (std::size_t i = 0; i < model.layer_count(); ++i) {
    const LinearShape shape = model.layer(i);
    expected.push_back({tensor_name(i, LayerTensor::weight),
                        floating_point_dtypes(),
                        {shape.out, shape.in},
                        "[out, in]"});
    expected.push_back(
        {tensor_name(i, LayerTensor::bias), floating_point_dtypes(), {shape.out}, "[out]"});
  }
  return expected;
}

}  // namespace

std::unique_ptr<WeightsFile> WeightsFile::open(const std::string& path, const ModelSpec& model,
                                               std::vector<std::string>& faults) {
  std::unique_ptr<SafetensorsFile> file = SafetensorsFile::open(path, faults);
  if (!file || !check_tensors(*file, expected_tensors(model), FirstExtent::exact, faults)) {
    return nullptr;
  }
  bool finite = true;
  for (const SafetensorsEntry& entry : file->entries()) {
    finite = check_finite(*file, entry, entry.elements, faults) && finite;
  }
  return finite ? std::unique_ptr<WeightsFile>(new WeightsFile(std::move(file), model)) : nullptr;
}

WeightsFile::WeightsFile(std::unique_ptr<SafetensorsFile> file, const ModelSpec& model)
    : file_(std::move(file)) {
  for (std::size_t i = 0; i < model.layer_count(); ++i) {
    layers_.push_back({file_->find(tensor_name(i, LayerTensor::weight)),
                       file_->find(tensor_name(i, LayerTensor::bias))});
  }
}

std::optional<std::string> WeightsFile::read(std::size_t layer, LayerTensor part,
                                             std::uint64_t first, std::uint64_t count,
                                             float* destination) const {
  SHARDSCOPE_CHECK(layer < layers_.size(), "a layer the model does not have");
  const Layer& entries = layers_[layer];
  return file_->read_fp32(part == LayerTensor::weight ? *entries.weight : *entries.bias, first,
                          count, destination);
}

std::string tensor_name(std::size_t layer, LayerTensor part) {
  return "layers." + std::to_string(layer) + (part == LayerTensor::weight ? ".weight" : ".bias");
}

}  // namespace shardscope
