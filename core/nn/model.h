// The model: a multi-layer perceptron, y = x W^T + b per layer (torch.nn.Linear), an activation
// between layers and none after the last; or a transformer, as shapes without arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/transformer.h"
#include "core/tensor/dtype.h"

namespace shardscope {

enum class Activation { relu, tanh };
enum class Loss { mse, cross_entropy };

/// One linear layer. Its parameters lie together: W [out, in] row-major, then b [out].
struct LinearShape {
  std::size_t in = 0;
  std::size_t out = 0;

  std::size_t weight_elements() const { return in * out; }
  std::size_t elements() const { return in * out + out; }
};

/// Consecutive layers, both ends included.
struct LayerRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// "layers.2", "layers.0-2".
std::string name(LayerRange layers);

struct ModelSpec {
  /// Of a perceptron. Widths: input, hidden..., output. At least two.
  std::vector<std::size_t> widths = {};
  Activation activation = Activation::relu;
  Loss loss = Loss::mse;  ///< A transformer's is the cross-entropy of each token.

  /// Instead of widths. A row is a sequence of tokens.
  std::optional<TransformerSpec> transformer = {};

  std::size_t layer_count() const;

  /// Elements of a layer's tensors, in torch order: W and b of a perceptron's.
  std::vector<std::size_t> tensors(std::size_t layer) const;

  /// The last layer also multiplies by the first tensor of all (tied embeddings).
  bool has_tied_output() const;

  /// What a layer passes on, in elements of a row.
  std::size_t output_elements(std::size_t layer) const;

  /// What it keeps for its backward beside its input and output, in bytes of a row.
  std::uint64_t saved_bytes(std::size_t layer, DType dtype) const;

  /// Whether activation checkpointing concerns it: a transformer's blocks, all of a perceptron.
  bool can_be_recomputed(std::size_t layer) const;

  /// What comes in with so many rows, and its type.
  std::size_t input_elements(std::size_t rows) const;
  DType input_dtype(DType precision) const;

  /// The type of the outputs that the loss reads: a transformer's last layer keeps an fp32 copy.
  DType loss_dtype(DType precision) const;

  /// The loss is that of so many outputs of output_width() elements: of tokens, or rows.
  std::size_t loss_rows(std::size_t rows) const;
  std::size_t output_width() const;

  /// P: the parameters of all layers, in torch order W0, b0, W1, b1, ...
  std::size_t parameters() const;

  /// Where layer `index` begins in that order.
  std::size_t layer_offset(std::size_t index) const;

  // Of a perceptron:
  LinearShape layer(std::size_t index) const { return {widths[index], widths[index + 1]}; }
  std::size_t input_width() const { return widths.front(); }
};

}  // namespace shardscope
