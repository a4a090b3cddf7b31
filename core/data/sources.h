// Where weights and batches come from. Implementations may be read by several threads at once.
#pragma once

#include <cstddef>
#include <functional>

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

/// Fills `out` with values that are read in fp32 and rounded to its type, block by block, so that
/// few of them are ever held in fp32: read(at, values) gives elements [at, at + values.count) of
/// it. Does nothing if shape-only or empty.
void fill_rounded(Tensor out, const std::function<void(std::size_t at, Tensor values)>& read);

/// Reads parameters [begin, begin + out.count) in torch order, as fill_rounded() does.
void read_parameters(const WeightSource& source, const ModelSpec& model, std::size_t begin,
                     Tensor out);

}  // namespace shardscope
