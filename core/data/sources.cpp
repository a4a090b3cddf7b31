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
                  std::size_t tensor_begin, std::size_t tensor_count, std::size_t begin,
                  Tensor out) {
  const std::size_t from = std::max(begin, tensor_begin);
  const std::size_t to = std::min(begin + out.count, tensor_begin + tensor_count);
  if (from < to) {
    fill_rounded(out.slice(from - begin, to - from), [&](std::size_t at, Tensor values) {
      source.read(layer, which, from - tensor_begin + at, values);
    });
  }
}

}  // namespace

void fill_rounded(Tensor out, const std::function<void(std::size_t at, Tensor values)>& read) {
  if (!out.is_real() || out.count == 0) {
    return;
  }
  if (out.dtype == DType::fp32) {
    read(0, out);
    return;
  }
  std::vector<float> block(std::min(kBlock, out.count));
  for (std::size_t at = 0; at < out.count; at += kBlock) {
    const Tensor values = Tensor::of(block.data(), std::min(kBlock, out.count - at));
    read(at, values);
    convert(out.slice(at, values.count), values);
  }
}

void read_parameters(const WeightSource& source, const ModelSpec& model, std::size_t begin,
                     Tensor out) {
  if (!out.is_real()) {
    return;
  }
  std::size_t offset = 0;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    read_overlap(source, l, LayerTensor::weight, offset, shape.weight_elements(), begin, out);
    offset += shape.weight_elements();
    read_overlap(source, l, LayerTensor::bias, offset, shape.out, begin, out);
    offset += shape.out;
  }
}

}  // namespace shardscope
