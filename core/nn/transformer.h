// Decoder-only transformers as functions of shapes: their tensors, what a training step keeps for
// backward and what its kernels cost. No arithmetic.
//
// Layers of the training step: 0 is the embeddings, 1 to `blocks` are the blocks, blocks + 1 is the
// final norm and the output projection. A row is one sample, a sequence of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/nn/kernel_cost.h"
#include "core/tensor/dtype.h"

namespace shardscope {

/// Layer norms have a weight and a bias, RMS norms a weight.
enum class Norm { layer_norm, rms_norm };

/// Sizes are in elements. Names follow the keys of Hugging Face's configurations.
struct TransformerSpec {
  /// The family, after which tensors are named and ordered: "llama", "mistral", "qwen2", "gpt2",
  /// "gpt_neox", "opt". Any other, such as "transformer", is named as llama.
  std::string architecture = "transformer";
  std::size_t vocabulary = 0;
  std::size_t hidden = 0;
  std::size_t blocks = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;  ///< Heads of keys and values; fewer than `heads` where queries share.
  std::size_t head_dim = 0;
  std::size_t intermediate = 0;     ///< Width inside the MLP.
  std::size_t positions = 0;        ///< Rows of a learned position table; 0: rotary embedding.
  std::size_t sequence = 0;         ///< Tokens of a row.
  std::size_t token_embedding = 0;  ///< Width of a token's embedding if projected; 0: hidden.
  /// down(act(gate(x)) * up(x)) instead of down(act(up(x))).
  bool gated_mlp = false;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  Norm norm = Norm::layer_norm;
  bool final_norm = true;
  /// The output projection is the token embedding.
  bool tied_embeddings = false;
  /// Attention is one kernel that keeps no scores and computes them anew in backward.
  bool fused_attention = true;
  /// Dropout of what attention and the MLP put out, of the attention weights, of the embeddings.
  bool dropout = false;
  bool attention_dropout = false;
  bool embedding_dropout = false;
  /// The activation's derivative needs its input (GELU, SiLU), not its output (ReLU, tanh).
  bool activation_keeps_input = true;
  /// One norm may feed both halves of a block with a parallel residual.
  std::size_t norms_per_block = 2;
  /// x + attention(norm(x)) + mlp(norm(x)).
  bool parallel_residual = false;

  std::size_t query_width() const { return heads * head_dim; }
  std::size_t kv_width() const { return kv_heads * head_dim; }
  std::size_t qkv_width() const { return query_width() + 2 * kv_width(); }
  bool projects_embedding() const { return token_embedding != 0; }
  std::size_t embedding_width() const { return projects_embedding() ? token_embedding : hidden; }
  std::size_t norm_elements() const { return norm == Norm::layer_norm ? 2 * hidden : hidden; }
};

/// blocks + 2.
std::size_t layer_count(const TransformerSpec& spec);

struct TensorShape {
  std::string name;
  std::size_t elements = 0;
};

/// The parameters of a layer in torch's order, named as Hugging Face names them below the base
/// model: "layers.0.self_attn.q_proj.weight". With tied embeddings the last layer has no output
/// projection: that is layer 0's token embedding, which it needs as well.
std::vector<TensorShape> layer_tensors(const TransformerSpec& spec, std::size_t layer);

std::size_t layer_parameters(const TransformerSpec& spec, std::size_t layer);

/// P: the parameters of all layers.
std::size_t parameters(const TransformerSpec& spec);

/// What a layer puts out per row: sequence * hidden, the last one sequence * vocabulary.
std::size_t output_elements(const TransformerSpec& spec, std::size_t layer);

/// Bytes per row that a layer keeps for backward beside its own input and output. A block keeps,
/// per token and in the training type unless noted,
///   each norm's output                                    norms_per_block * hidden
///   the input of the second norm, if not parallel         hidden
///   queries, keys, values                                 (heads + 2 kv_heads) * head_dim
///   the attention's output                                heads * head_dim
///   unfused: the softmax's output                         heads * sequence
///     with dropout of it also the result and a mask       heads * sequence each, mask 1 byte
///   the activation's input, if its derivative needs it    intermediate
///   the down projection's input                           intermediate
///   gated: up(x) and act(gate(x))                         2 * intermediate
///   with dropout: two masks                               hidden each, 1 byte
/// which with its input is s h (34 + 5 a s / h) for a GPT in 16 bits (Korthikanti et al. 2022,
/// arXiv 2205.05198, equation 1). As there, a norm's and fused attention's statistics, one number
/// per token or head, are left out. Layer 0 keeps its dropout's mask, the last layer the normed
/// input and an fp32 copy of the logits, on which the loss works; each also keeps what enters or
/// leaves a projection of the embedding.
std::uint64_t saved_bytes(const TransformerSpec& spec, std::size_t layer, DType dtype);

/// The kernels of a layer in order, each operand read or written once; the loss is not among them.
/// Only matrix products count flops, 2 m n k; all else is memory traffic. Attention's scores and
/// weighted values count in full, though a causal mask leaves half of them. Biases, residual
/// additions and dropout are part of the product before them. Kernels: the norms, qkv, rotary,
/// attention (unfused: scores, softmax, weighted values), its output projection, the MLP's two
/// products (gate and up are one) and the activation.
std::vector<KernelCost> forward_kernels(const TransformerSpec& spec, std::size_t layer,
                                        std::size_t rows, DType dtype);

/// The same kernels backwards. A product's two, for dW and dx, are one entry of twice its flops;
/// fused attention computes its scores anew, 2.5 times its flops (Dao 2023, arXiv 2307.08691).
std::vector<KernelCost> backward_kernels(const TransformerSpec& spec, std::size_t layer,
                                         std::size_t rows, DType dtype);

/// Flops of forward and backward for model flops utilisation, nothing computed twice: three times
/// the forward products, which is
///   rows * (6 * sequence * W + 12 * blocks * heads * head_dim * sequence^2),
/// W being the weights in products: P without biases, norms and position table, and without the
/// token embedding if it is not the output projection as well.
double model_flops(const TransformerSpec& spec, std::size_t rows);

}  // namespace shardscope
