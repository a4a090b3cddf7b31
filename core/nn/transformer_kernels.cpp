#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "core/nn/transformer.h"

namespace shardscope {
namespace {

/// A kernel of forward and what backward makes of it.
struct Kernel {
  std::string_view name;
  Cost forward;
  Cost backward;
};

using Kernels = std::vector<Kernel>;

constexpr double kMaskBytes = 1;

/// The sizes that costs are made of. Widths are elements per token.
struct Sizes {
  Sizes(const TransformerSpec& spec, std::size_t rows, DType dtype)
      : tokens(static_cast<double>(rows) * static_cast<double>(spec.sequence)),
        sequence(static_cast<double>(spec.sequence)),
        hidden(static_cast<double>(spec.hidden)),
        queries(static_cast<double>(spec.query_width())),
        keys(static_cast<double>(spec.kv_width())),
        scores(static_cast<double>(spec.heads) * sequence),
        intermediate(static_cast<double>(spec.intermediate)),
        embedding(static_cast<double>(spec.embedding_width())),
        vocabulary(static_cast<double>(spec.vocabulary)),
        element(static_cast<double>(size_of(dtype))) {}

  /// Traffic of so many elements per token.
  double traffic(double width) const { return tokens * width * element; }
  double mask(bool dropout, double width) const {
    return dropout ? tokens * width * kMaskBytes : 0.0;
  }

  double tokens;
  double sequence;
  double hidden;
  double queries;
  double keys;
  double scores;
  double intermediate;
  double embedding;
  double vocabulary;
  double element;
};

/// A kernel that only moves bytes.
Kernel traffic(std::string_view name, double forward_bytes, double backward_bytes) {
  return {name, {.flops = 0, .bytes = forward_bytes}, {.flops = 0, .bytes = backward_bytes}};
}

/// y = x W^T + b. Backward reads x and dy for dW and db, dy and W for dx.
Kernel product(std::string_view name, const Sizes& sizes, double in, double out, bool bias) {
  const double flops = 2.0 * sizes.tokens * in * out;
  const double activations = sizes.traffic(in + out);
  const double weights = in * out * sizes.element;
  const double biases = bias ? out * sizes.element : 0.0;
  return {name,
          {.flops = flops, .bytes = activations + weights + biases},
          {.flops = 2.0 * flops, .bytes = 2.0 * (activations + weights) + biases}};
}

/// A product whose output is dropped out and added to the residual stream, which it reads.
Kernel residual_product(std::string_view name, const Sizes& sizes, double in, bool bias,
                        bool dropout) {
  Kernel kernel = product(name, sizes, in, sizes.hidden, bias);
  const double mask = sizes.mask(dropout, sizes.hidden);
  kernel.forward.bytes += sizes.traffic(sizes.hidden) + mask;
  kernel.backward.bytes += mask;
  return kernel;
}

/// Backward reads x, dy and the parameters and writes dx and their gradients; in a block it adds
/// dx to the gradient of the residual stream, which it reads.
Kernel norm(std::string_view name, const Sizes& sizes, const TransformerSpec& spec,
            bool in_residual) {
  const double elements = static_cast<double>(spec.norm_elements()) * sizes.element;
  return traffic(name, sizes.traffic(2 * sizes.hidden) + elements,
                 sizes.traffic((in_residual ? 4 : 3) * sizes.hidden) + 2 * elements);
}

/// Turns queries and keys; backward turns their gradients back.
Kernel rotary(const Sizes& sizes) {
  const double bytes = sizes.traffic(2 * (sizes.queries + sizes.keys));
  return traffic("rotary", bytes, bytes);
}

/// Scores and weighted values are 2 products of 2 tokens sequence queries flops. Backward has 5:
/// the scores anew, then the gradients of values, weights, queries and keys.
Kernel fused_attention(const Sizes& sizes) {
  const double one_product = 2.0 * sizes.tokens * sizes.sequence * sizes.queries;
  const double operands = sizes.queries + 2 * sizes.keys;
  return {"attention",
          {.flops = 2 * one_product, .bytes = sizes.traffic(operands + sizes.queries)},
          {.flops = 5 * one_product, .bytes = sizes.traffic(2 * operands + 2 * sizes.queries)}};
}

/// S = q k^T, P = softmax(S), dropped out if so, and P v. Backward of a product is two, each
/// reading the gradient that comes in.
Kernels unfused_attention(const Sizes& sizes, bool dropout) {
  const double flops = 2.0 * sizes.tokens * sizes.sequence * sizes.queries;
  const double operands = sizes.traffic(sizes.queries + sizes.keys);
  const double matrix = sizes.traffic(sizes.scores);
  const double mask = sizes.mask(dropout, sizes.scores);
  const Cost forward = {.flops = flops, .bytes = operands + matrix};
  const Cost backward = {.flops = 2 * flops, .bytes = 2 * (operands + matrix)};
  return {{"scores", forward, backward},
          traffic("softmax", (dropout ? 3 : 2) * matrix + mask, 3 * matrix + mask),
          {"weighted_values", forward, backward}};
}

/// Backward reads dy and what forward kept. Gated: act(gate(x)) * up(x), two kernels in one entry,
/// so that act(gate(x)) and its gradient are written and read again.
Kernel activation(const Sizes& sizes, bool gated) {
  const double one = sizes.traffic(sizes.intermediate);
  return traffic("activation", (gated ? 5 : 2) * one, (gated ? 8 : 3) * one);
}

Kernels block_kernels(const TransformerSpec& spec, const Sizes& sizes) {
  Kernels kernels = {
      norm("attention_norm", sizes, spec, true),
      product("qkv", sizes, sizes.hidden, sizes.queries + 2 * sizes.keys, spec.qkv_bias)};
  if (spec.positions == 0) {
    kernels.push_back(rotary(sizes));
  }
  if (spec.fused_attention) {
    kernels.push_back(fused_attention(sizes));
  } else {
    const Kernels unfused = unfused_attention(sizes, spec.attention_dropout);
    kernels.insert(kernels.end(), unfused.begin(), unfused.end());
  }
  kernels.push_back(residual_product("attention_output", sizes, sizes.queries,
                                     spec.attention_output_bias, spec.dropout));
  if (spec.norms_per_block == 2) {
    kernels.push_back(norm("mlp_norm", sizes, spec, true));
  }
  kernels.push_back(product("mlp_up", sizes, sizes.hidden,
                            (spec.gated_mlp ? 2 : 1) * sizes.intermediate, spec.mlp_bias));
  kernels.push_back(activation(sizes, spec.gated_mlp));
  kernels.push_back(
      residual_product("mlp_down", sizes, sizes.intermediate, spec.mlp_bias, spec.dropout));
  return kernels;
}

/// Reads token numbers, a row of the table for each and the positions. Backward writes the
/// gradients of both tables whole.
Kernels embedding_kernels(const TransformerSpec& spec, const Sizes& sizes) {
  const double numbers = sizes.tokens * static_cast<double>(size_of(DType::int64));
  const double mask = sizes.mask(spec.embedding_dropout, sizes.hidden);
  const double position_rows = spec.positions == 0 ? 0.0 : sizes.sequence;
  const double gradients =
      sizes.vocabulary * sizes.embedding + static_cast<double>(spec.positions) * sizes.hidden;
  Kernels kernels = {
      traffic("embedding",
              numbers + mask + sizes.traffic(2 * sizes.embedding) +
                  position_rows * sizes.hidden * sizes.element,
              numbers + mask + sizes.traffic(sizes.embedding) + gradients * sizes.element)};
  if (spec.projects_embedding()) {
    kernels.push_back(product("project_in", sizes, sizes.embedding, sizes.hidden, false));
  }
  return kernels;
}

Kernels head_kernels(const TransformerSpec& spec, const Sizes& sizes) {
  Kernels kernels;
  if (spec.final_norm) {
    kernels.push_back(norm("final_norm", sizes, spec, false));
  }
  if (spec.projects_embedding()) {
    kernels.push_back(product("project_out", sizes, sizes.hidden, sizes.embedding, false));
  }
  kernels.push_back(product("logits", sizes, sizes.embedding, sizes.vocabulary, spec.head_bias));
  const double copy = sizes.traffic(sizes.vocabulary) +
                      sizes.tokens * sizes.vocabulary * static_cast<double>(size_of(DType::fp32));
  kernels.push_back(traffic("fp32_logits", copy, copy));
  return kernels;
}

Kernels layer_kernels(const TransformerSpec& spec, std::size_t layer, std::size_t rows,
                      DType dtype) {
  SHARDSCOPE_CHECK(layer < layer_count(spec), "a layer of the model");
  const Sizes sizes(spec, rows, dtype);
  if (layer == 0) {
    return embedding_kernels(spec, sizes);
  }
  return layer <= spec.blocks ? block_kernels(spec, sizes) : head_kernels(spec, sizes);
}

double forward_flops(const TransformerSpec& spec, std::size_t layer, std::size_t rows) {
  double flops = 0;
  for (const KernelCost& kernel : forward_kernels(spec, layer, rows, DType::bf16)) {
    flops += kernel.cost.flops;
  }
  return flops;
}

}  // namespace

std::vector<KernelCost> forward_kernels(const TransformerSpec& spec, std::size_t layer,
                                        std::size_t rows, DType dtype) {
  const Kernels kernels = layer_kernels(spec, layer, rows, dtype);
  std::vector<KernelCost> costs;
  std::transform(kernels.begin(), kernels.end(), std::back_inserter(costs),
                 [](const Kernel& kernel) {
                   return KernelCost{kernel.name, kernel.forward};
                 });
  return costs;
}

std::vector<KernelCost> backward_kernels(const TransformerSpec& spec, std::size_t layer,
                                         std::size_t rows, DType dtype) {
  const Kernels kernels = layer_kernels(spec, layer, rows, dtype);
  std::vector<KernelCost> costs;
  std::transform(kernels.rbegin(), kernels.rend(), std::back_inserter(costs),
                 [](const Kernel& kernel) {
                   return KernelCost{kernel.name, kernel.backward};
                 });
  return costs;
}

double model_flops(const TransformerSpec& spec, std::size_t rows) {
  const double blocks =
      spec.blocks == 0 ? 0.0 : static_cast<double>(spec.blocks) * forward_flops(spec, 1, rows);
  return 3.0 * (forward_flops(spec, 0, rows) + blocks + forward_flops(spec, spec.blocks + 1, rows));
}

}  // namespace shardscope
