#include "core/nn/model.h"

namespace shardscope {

std::string name(LayerRange layers) {
  const std::string first = "layers." + std::to_string(layers.first);
  return layers.first == layers.last ? first : first + "-" + std::to_string(layers.last);
}

std::size_t ModelSpec::layer_count() const {
  return transformer.has_value() ? shardscope::layer_count(*transformer) : widths.size() - 1;
}

std::vector<std::size_t> ModelSpec::tensors(std::size_t index) const {
  if (!transformer.has_value()) {
    return {layer(index).weight_elements(), layer(index).out};
  }
  std::vector<std::size_t> elements;
  for (const TensorShape& tensor : layer_tensors(*transformer, index)) {
    elements.push_back(tensor.elements);
  }
  return elements;
}

bool ModelSpec::has_tied_output() const {
  return transformer.has_value() && transformer->tied_embeddings;
}

std::size_t ModelSpec::output_elements(std::size_t index) const {
  return transformer.has_value() ? shardscope::output_elements(*transformer, index)
                                 : widths[index + 1];
}

std::uint64_t ModelSpec::saved_bytes(std::size_t index, DType dtype) const {
  return transformer.has_value() ? shardscope::saved_bytes(*transformer, index, dtype) : 0;
}

bool ModelSpec::can_be_recomputed(std::size_t index) const {
  return !transformer.has_value() || (index > 0 && index + 1 < layer_count());
}

std::size_t ModelSpec::input_elements(std::size_t rows) const {
  return rows * (transformer.has_value() ? transformer->sequence : input_width());
}

DType ModelSpec::input_dtype(DType precision) const {
  return transformer.has_value() ? DType::int64 : precision;
}

DType ModelSpec::loss_dtype(DType precision) const {
  return transformer.has_value() ? DType::fp32 : precision;
}

std::size_t ModelSpec::loss_rows(std::size_t rows) const {
  return transformer.has_value() ? rows * transformer->sequence : rows;
}

std::size_t ModelSpec::output_width() const {
  return transformer.has_value() ? transformer->vocabulary : widths.back();
}

std::size_t ModelSpec::parameters() const { return layer_offset(layer_count()); }

std::size_t ModelSpec::layer_offset(std::size_t index) const {
  std::size_t offset = 0;
  for (std::size_t l = 0; l < index; ++l) {
    for (const std::size_t elements : tensors(l)) {
      offset += elements;
    }
  }
  return offset;
}

}  // namespace shardscope
