// Initial weights from a safetensors file: layers.<i>.weight [out, in] and layers.<i>.bias [out]
// for every layer, as F32, F16 or BF16 (torch.nn.Linear's state, layers counted from 0).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/data/sources.h"
#include "core/nn/model.h"
#include "sim/files/safetensors.h"

namespace shardscope {

class WeightsFile {
 public:
  /// Opens the file and checks it against the model, the values too: they must be finite. Null,
  /// with every fault appended, if it does not fit.
  static std::unique_ptr<WeightsFile> open(const std::string& path, const ModelSpec& model,
                                           std::vector<std::string>& faults);

  /// Reads elements [first, first + count) of a layer's weight or bias into `destination`; aborts
  /// if there are fewer. Safe from several threads and in forked processes. An error, or nothing.
  std::optional<std::string> read(std::size_t layer, LayerTensor part, std::uint64_t first,
                                  std::uint64_t count, float* destination) const;

 private:
  struct Layer {
    const SafetensorsEntry* weight;
    const SafetensorsEntry* bias;
  };

  WeightsFile(std::unique_ptr<SafetensorsFile> file, const ModelSpec& model);

  std::unique_ptr<SafetensorsFile> file_;
  std::vector<Layer> layers_;
};

/// "layers.3.weight", "layers.3.bias".
std::string tensor_name(std::size_t layer, LayerTensor part);

}  // namespace shardscope
