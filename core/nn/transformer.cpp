#include "core/nn/transformer.h"

#include <array>
#include <span>
#include <string_view>

#include "core/check.h"

namespace shardscope {
namespace {

enum class Part {
  attention_norm,
  mlp_norm,
  qkv,
  query,
  key,
  value,
  attention_output,
  gate,
  up,
  down
};

struct NamedPart {
  Part part;
  std::string_view name;
};

/// How a family names its tensors; a block's parts are in the order of torch's parameters().
struct Family {
  std::string_view architecture;
  std::string_view token_embedding;
  std::string_view position_embedding;
  std::string_view block;
  std::span<const NamedPart> parts;
  std::string_view final_norm;
  std::string_view head;
};

constexpr std::array<NamedPart, 9> kLlamaParts = {{{Part::query, "self_attn.q_proj"},
                                                   {Part::key, "self_attn.k_proj"},
                                                   {Part::value, "self_attn.v_proj"},
                                                   {Part::attention_output, "self_attn.o_proj"},
                                                   {Part::gate, "mlp.gate_proj"},
                                                   {Part::up, "mlp.up_proj"},
                                                   {Part::down, "mlp.down_proj"},
                                                   {Part::attention_norm, "input_layernorm"},
                                                   {Part::mlp_norm, "post_attention_layernorm"}}};

constexpr std::array<NamedPart, 6> kGpt2Parts = {{{Part::attention_norm, "ln_1"},
                                                  {Part::qkv, "attn.c_attn"},
                                                  {Part::attention_output, "attn.c_proj"},
                                                  {Part::mlp_norm, "ln_2"},
                                                  {Part::up, "mlp.c_fc"},
                                                  {Part::down, "mlp.c_proj"}}};

constexpr std::array<NamedPart, 6> kGptNeoxParts = {{{Part::attention_norm, "input_layernorm"},
                                                     {Part::mlp_norm, "post_attention_layernorm"},
                                                     {Part::qkv, "attention.query_key_value"},
                                                     {Part::attention_output, "attention.dense"},
                                                     {Part::up, "mlp.dense_h_to_4h"},
                                                     {Part::down, "mlp.dense_4h_to_h"}}};

constexpr std::array<NamedPart, 8> kOptParts = {{{Part::key, "self_attn.k_proj"},
                                                 {Part::value, "self_attn.v_proj"},
                                                 {Part::query, "self_attn.q_proj"},
                                                 {Part::attention_output, "self_attn.out_proj"},
                                                 {Part::attention_norm, "self_attn_layer_norm"},
                                                 {Part::up, "fc1"},
                                                 {Part::down, "fc2"},
                                                 {Part::mlp_norm, "final_layer_norm"}}};

constexpr Family kLlama = {"llama",     "embed_tokens", "embed_positions", "layers.",
                           kLlamaParts, "norm",         "lm_head"};

constexpr std::array<Family, 3> kOthers = {
    {{"gpt2", "wte", "wpe", "h.", kGpt2Parts, "ln_f", "lm_head"},
     {"gpt_neox", "embed_in", "embed_positions", "layers.", kGptNeoxParts, "final_layer_norm",
      "embed_out"},
     {"opt", "embed_tokens", "embed_positions", "layers.", kOptParts, "final_layer_norm",
      "lm_head"}}};

const Family& family_of(const TransformerSpec& spec) {
  for (const Family& family : kOthers) {
    if (family.architecture == spec.architecture) {
      return family;
    }
  }
  return kLlama;
}

/// Elements of weight and bias; no weight if the model does not have the part.
struct Parameters {
  std::size_t weight = 0;
  std::size_t bias = 0;
};

Parameters linear(std::size_t in, std::size_t out, bool bias) {
  return {.weight = in * out, .bias = bias ? out : 0};
}

Parameters norm(const TransformerSpec& spec) {
  return {.weight = spec.hidden, .bias = spec.norm_elements() - spec.hidden};
}

Parameters part_parameters(const TransformerSpec& spec, Part part) {
  switch (part) {
    case Part::attention_norm:
      return norm(spec);
    case Part::mlp_norm:
      return spec.norms_per_block == 2 ? norm(spec) : Parameters{};
    case Part::qkv:
      return linear(spec.hidden, spec.qkv_width(), spec.qkv_bias);
    case Part::query:
      return linear(spec.hidden, spec.query_width(), spec.qkv_bias);
    case Part::key:
    case Part::value:
      return linear(spec.hidden, spec.kv_width(), spec.qkv_bias);
    case Part::attention_output:
      return linear(spec.query_width(), spec.hidden, spec.attention_output_bias);
    case Part::gate:
      return spec.gated_mlp ? linear(spec.hidden, spec.intermediate, spec.mlp_bias) : Parameters{};
    case Part::up:
      return linear(spec.hidden, spec.intermediate, spec.mlp_bias);
    case Part::down:
      return linear(spec.intermediate, spec.hidden, spec.mlp_bias);
  }
  return {};
}

void append(std::vector<TensorShape>& tensors, const std::string& name, Parameters parameters) {
  if (parameters.weight != 0) {
    tensors.push_back({.name = name + ".weight", .elements = parameters.weight});
  }
  if (parameters.bias != 0) {
    tensors.push_back({.name = name + ".bias", .elements = parameters.bias});
  }
}

std::vector<TensorShape> embedding_tensors(const TransformerSpec& spec, const Family& family) {
  const std::size_t width = spec.embedding_width();
  std::vector<TensorShape> tensors;
  append(tensors, std::string(family.token_embedding), linear(spec.vocabulary, width, false));
  append(tensors, std::string(family.position_embedding),
         linear(spec.positions, spec.hidden, false));
  if (spec.projects_embedding()) {
    append(tensors, "project_in", linear(width, spec.hidden, false));
  }
  return tensors;
}

std::vector<TensorShape> block_tensors(const TransformerSpec& spec, const Family& family,
                                       std::size_t block) {
  const std::string prefix = std::string(family.block) + std::to_string(block) + ".";
  std::vector<TensorShape> tensors;
  for (const NamedPart& part : family.parts) {
    append(tensors, prefix + std::string(part.name), part_parameters(spec, part.part));
  }
  return tensors;
}

std::vector<TensorShape> head_tensors(const TransformerSpec& spec, const Family& family) {
  const std::size_t width = spec.embedding_width();
  std::vector<TensorShape> tensors;
  if (spec.projects_embedding()) {
    append(tensors, "project_out", linear(spec.hidden, width, false));
  }
  if (spec.final_norm) {
    append(tensors, std::string(family.final_norm), norm(spec));
  }
  append(tensors, std::string(family.head),
         {.weight = spec.tied_embeddings ? 0 : width * spec.vocabulary,
          .bias = spec.head_bias ? spec.vocabulary : 0});
  return tensors;
}

void check_layer(const TransformerSpec& spec, std::size_t layer) {
  SHARDSCOPE_CHECK(layer < layer_count(spec), "a layer of the model");
}

std::uint64_t block_saved_bytes(const TransformerSpec& spec, std::uint64_t size) {
  std::uint64_t elements = spec.norms_per_block * spec.hidden + spec.qkv_width() +
                           spec.query_width() + spec.intermediate;
  elements += spec.parallel_residual ? 0 : spec.hidden;
  elements += spec.activation_keeps_input ? spec.intermediate : 0;
  elements += spec.gated_mlp ? 2 * spec.intermediate : 0;
  std::uint64_t mask_bytes = spec.dropout ? 2 * spec.hidden : 0;
  if (!spec.fused_attention) {
    const std::uint64_t weights = spec.heads * spec.sequence;
    elements += spec.attention_dropout ? 2 * weights : weights;
    mask_bytes += spec.attention_dropout ? weights : 0;
  }
  return spec.sequence * (size * elements + mask_bytes);
}

std::uint64_t head_saved_bytes(const TransformerSpec& spec, std::uint64_t size) {
  const std::uint64_t elements =
      (spec.final_norm ? spec.hidden : 0) + (spec.projects_embedding() ? spec.token_embedding : 0);
  return spec.sequence * (size * elements + size_of(DType::fp32) * spec.vocabulary);
}

}  // namespace

std::size_t layer_count(const TransformerSpec& spec) { return spec.blocks + 2; }

std::vector<TensorShape> layer_tensors(const TransformerSpec& spec, std::size_t layer) {
  check_layer(spec, layer);
  const Family& family = family_of(spec);
  if (layer == 0) {
    return embedding_tensors(spec, family);
  }
  return layer <= spec.blocks ? block_tensors(spec, family, layer - 1) : head_tensors(spec, family);
}

std::size_t layer_parameters(const TransformerSpec& spec, std::size_t layer) {
  std::size_t elements = 0;
  for (const TensorShape& tensor : layer_tensors(spec, layer)) {
    elements += tensor.elements;
  }
  return elements;
}

std::size_t parameters(const TransformerSpec& spec) {
  const std::size_t blocks = spec.blocks == 0 ? 0 : spec.blocks * layer_parameters(spec, 1);
  return layer_parameters(spec, 0) + blocks + layer_parameters(spec, spec.blocks + 1);
}

std::size_t output_elements(const TransformerSpec& spec, std::size_t layer) {
  check_layer(spec, layer);
  return spec.sequence * (layer <= spec.blocks ? spec.hidden : spec.vocabulary);
}

std::uint64_t saved_bytes(const TransformerSpec& spec, std::size_t layer, DType dtype) {
  check_layer(spec, layer);
  const std::uint64_t size = size_of(dtype);
  if (layer == 0) {
    const std::uint64_t mask_bytes = spec.embedding_dropout ? spec.hidden : 0;
    return spec.sequence * (size * spec.token_embedding + mask_bytes);
  }
  return layer <= spec.blocks ? block_saved_bytes(spec, size) : head_saved_bytes(spec, size);
}

}  // namespace shardscope
