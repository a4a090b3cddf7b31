#include "core/data/sources.h"

#include <algorithm>
#include <vector>

#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

constexpr std::size_t kBlock = 16384;

// Reads `out` from the part of a layer tensor that overlaps it: the tensor begins at `tensor_begin`
// in torch order and has `tensor_count` elements, `out` begins at `begin`.
void read_overlap(const WeightSource& source, std::size_t layer, LayerTensor which,
                  std::size_t tensor_begin, std::size_t tensor_count, std::size_t begin, Tensor out,
                  std::vector<float>& block) {
  const std::size_t from = std::max(begin, tensor_begin);
  const std::size_t to = std::min(begin + out.count, tensor_begin + tensor_count);
  for (std::size_t at = from; at < to; at += kBlock) {
    const std::size_t length = std::min(kBlock, to - at);
    const Tensor values = Tensor::of(block.data(), length);
    source.read(layer, which, at - tensor_begin, values);
    convert(out.slice(at - begin, length), values);
  }
}

}  // namespace

void read_parameters(const WeightSource& source, const ModelSpec& model, std::size_t begin,
                     Tensor out) {
  if (!out.is_real()) {
    return;
  }
  std::vector<float> block(kBlock);
  std::size_t offset = 0;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    read_overlap(source, l, LayerTensor::weight, offset, shape.weight_elements(), begin, out,
                 block);
    offset += shape.weight_elements();
    read_overlap(source, l, LayerTensor::bias, offset, shape.out, begin, out, block);
    offset += shape.out;
  }
}

}  // namespace shardscope
