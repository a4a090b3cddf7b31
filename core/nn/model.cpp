#include "core/nn/model.h"

namespace shardscope {

std::size_t ModelSpec::parameters() const { return layer_offset(layer_count()); }

std::size_t ModelSpec::layer_offset(std::size_t index) const {
  std::size_t offset = 0;
  for (std::size_t l = 0; l < index; ++l) {
    offset += layer(l).elements();
  }
  return offset;
}

}  // namespace shardscope
