#include "core/nn/model.h"

namespace shardscope {

std::string name(LayerRange layers) {
  const std::string first = "layers." + std::to_string(layers.first);
  return layers.first == layers.last ? first : first + "-" + std::to_string(layers.last);
}

std::size_t ModelSpec::parameters() const { return layer_offset(layer_count()); }

std::size_t ModelSpec::layer_offset(std::size_t index) const {
  std::size_t offset = 0;
  for (std::size_t l = 0; l < index; ++l) {
    offset += layer(l).elements();
  }
  return offset;
}

}  // namespace shardscope
