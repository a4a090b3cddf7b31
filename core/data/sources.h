// Where weights and batches come from. Implementations may be read by several threads at once.
#pragma once

#include <cstddef>

#include "core/nn/model.h"
#include "core/tensor/tensor.h"

namespace shardscope {

enum class LayerTensor { weight, bias };

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  /// Elements [first, first + out.count) of a layer's weight [out, in], row-major, or bias [out].
  /// `out` is fp32.
  virtual void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const = 0;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Rows [first_row, first_row + rows) of the global batch of a step (0, 1, ...).
  /// x [rows, in] is fp32; y is fp32 [rows, out] for mse, int64 labels [rows] for cross_entropy.
  virtual void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
                    Tensor y) const = 0;
};

/// Reads parameters [begin, begin + out.count) in torch order, rounded to out's type, without ever
/// holding much of them in fp32. Does nothing if shape-only.
void read_parameters(const WeightSource& source, const ModelSpec& model, std::size_t begin,
                     Tensor out);

}  // namespace shardscope
