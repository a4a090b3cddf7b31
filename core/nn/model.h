// The model: a multi-layer perceptron, y = x W^T + b per layer (torch.nn.Linear), an activation
// between layers and none after the last.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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
  /// Widths: input, hidden..., output. At least two.
  std::vector<std::size_t> widths;
  Activation activation = Activation::relu;
  Loss loss = Loss::mse;

  std::size_t layer_count() const { return widths.size() - 1; }
  LinearShape layer(std::size_t index) const { return {widths[index], widths[index + 1]}; }
  std::size_t input_width() const { return widths.front(); }
  std::size_t output_width() const { return widths.back(); }

  /// P: the parameters of all layers, in torch order W0, b0, W1, b1, ...
  std::size_t parameters() const;

  /// Where layer `index` begins in that order.
  std::size_t layer_offset(std::size_t index) const;
};

}  // namespace shardscope
