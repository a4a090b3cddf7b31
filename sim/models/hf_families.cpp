#include "sim/models/hf_families.h"

#include <array>
#include <optional>
#include <vector>

namespace shardscope {
namespace {

// No element, byte or token count of models within these overflows 64 bits.
constexpr std::size_t kMostVocabulary = std::size_t{1} << 24;
constexpr std::size_t kMostHidden = std::size_t{1} << 18;
constexpr std::size_t kMostBlocks = std::size_t{1} << 12;
constexpr std::size_t kMostHeads = std::size_t{1} << 12;
constexpr std::size_t kMostHeadDim = std::size_t{1} << 12;
constexpr std::size_t kMostIntermediate = std::size_t{1} << 22;

/// Rows that OPT's position table has before the first position.
constexpr std::size_t kOptPositionOffset = 2;

/// Sets hidden / heads, which must be whole, as the width of a head.
void divide_heads(ConfigKeys& keys, const std::string& hidden_key, const std::string& heads_key,
                  TransformerSpec& spec) {
  spec.kv_heads = spec.heads;
  spec.head_dim = spec.hidden / spec.heads;
  if (keys.are_sound({hidden_key, heads_key}) && spec.hidden % spec.heads != 0) {
    keys.fault(heads_key, std::to_string(spec.heads) + " heads do not divide",
               "a divisor of " + hidden_key + ", " + std::to_string(spec.hidden));
  }
}

/// Rotary embedding turns pairs of elements.
void check_pairs(ConfigKeys& keys, const std::string& key, const TransformerSpec& spec) {
  if (keys.are_sound({"head_dim", "hidden_size", "num_attention_heads"}) &&
      spec.head_dim % 2 != 0) {
    keys.fault(key, "heads of " + std::to_string(spec.head_dim) + " elements",
               "an even number, for rotary embedding");
  }
}

/// Which of the activation's input and output its derivative needs.
bool keeps_input(ConfigKeys& keys, const std::string& key, const std::string& missing) {
  const std::string activation =
      keys.choice(key, missing,
                  {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "silu",
                   "swish", "relu", "tanh", "sigmoid"});
  return activation != "relu" && activation != "tanh" && activation != "sigmoid";
}

void note_window(ConfigKeys& keys, std::optional<std::size_t> window) {
  if (window.has_value()) {
    keys.note("sliding_window " + std::to_string(*window) +
              " is not modelled: longer rows attend to all of their tokens");
  }
}

struct LlamaDefaults {
  std::size_t vocabulary;
  std::size_t intermediate;
  std::size_t positions;
  std::size_t kv_heads;
};

void read_heads(ConfigKeys& keys, const LlamaDefaults& defaults, TransformerSpec& spec) {
  spec.heads = keys.size("num_attention_heads", 32, kMostHeads);
  if (const auto width = keys.optional_size("head_dim", kMostHeadDim)) {
    spec.head_dim = *width;
    check_pairs(keys, "head_dim", spec);
  } else {
    divide_heads(keys, "hidden_size", "num_attention_heads", spec);
    check_pairs(keys, "num_attention_heads", spec);
  }
  spec.kv_heads = spec.heads;
  if (keys.has("num_key_value_heads")) {
    spec.kv_heads = keys.size("num_key_value_heads", spec.heads, kMostHeads);
  } else if (keys.is_absent("num_key_value_heads") && defaults.kv_heads != 0) {
    spec.kv_heads = keys.size("num_key_value_heads", defaults.kv_heads, kMostHeads);
  }
  if (keys.are_sound({"num_attention_heads", "num_key_value_heads"}) &&
      spec.heads % spec.kv_heads != 0) {
    keys.fault("num_key_value_heads", std::to_string(spec.kv_heads) + " does not divide",
               "a divisor of num_attention_heads, " + std::to_string(spec.heads));
  }
}

/// What llama, mistral and qwen2 share.
TransformerSpec read_llama_like(ConfigKeys& keys, const LlamaDefaults& defaults) {
  TransformerSpec spec;
  spec.vocabulary = keys.size("vocab_size", defaults.vocabulary, kMostVocabulary);
  spec.hidden = keys.size("hidden_size", 4096, kMostHidden);
  spec.intermediate = keys.size("intermediate_size", defaults.intermediate, kMostIntermediate);
  spec.blocks = keys.size("num_hidden_layers", 32, kMostBlocks);
  read_heads(keys, defaults, spec);
  spec.sequence = keys.size("max_position_embeddings", defaults.positions, kMostTokens);
  spec.gated_mlp = true;
  spec.norm = Norm::rms_norm;
  spec.tied_embeddings = keys.flag("tie_word_embeddings", false);
  spec.attention_dropout = keys.dropout("attention_dropout", 0);
  spec.activation_keeps_input = keeps_input(keys, "hidden_act", "silu");
  return spec;
}

TransformerSpec read_llama(ConfigKeys& keys) {
  TransformerSpec spec = read_llama_like(
      keys, {.vocabulary = 32000, .intermediate = 11008, .positions = 2048, .kv_heads = 0});
  spec.qkv_bias = spec.attention_output_bias = keys.flag("attention_bias", false);
  spec.mlp_bias = keys.flag("mlp_bias", false);
  return spec;
}

TransformerSpec read_mistral(ConfigKeys& keys) {
  TransformerSpec spec = read_llama_like(
      keys, {.vocabulary = 32000, .intermediate = 14336, .positions = 131072, .kv_heads = 8});
  auto window = keys.optional_size("sliding_window", kMostTokens);
  if (keys.is_absent("sliding_window")) {
    window = 4096;
  }
  note_window(keys, window);
  return spec;
}

TransformerSpec read_qwen2(ConfigKeys& keys) {
  TransformerSpec spec = read_llama_like(
      keys, {.vocabulary = 151936, .intermediate = 22016, .positions = 32768, .kv_heads = 32});
  spec.qkv_bias = true;
  const auto window = keys.optional_size("sliding_window", kMostTokens);
  if (keys.flag("use_sliding_window", false)) {
    note_window(keys, keys.is_absent("sliding_window") ? 4096 : window);
  }
  return spec;
}

TransformerSpec read_gpt2(ConfigKeys& keys) {
  const std::string hidden_key = keys.either("n_embd", "hidden_size");
  const std::string heads_key = keys.either("n_head", "num_attention_heads");
  TransformerSpec spec;
  spec.vocabulary = keys.size("vocab_size", 50257, kMostVocabulary);
  spec.hidden = keys.size(hidden_key, 768, kMostHidden);
  spec.blocks = keys.size(keys.either("n_layer", "num_hidden_layers"), 12, kMostBlocks);
  spec.heads = keys.size(heads_key, 12, kMostHeads);
  divide_heads(keys, hidden_key, heads_key, spec);
  spec.intermediate =
      keys.optional_size("n_inner", kMostIntermediate).value_or(std::size_t{4} * spec.hidden);
  spec.positions =
      keys.size(keys.either("n_positions", "max_position_embeddings"), 1024, kMostTokens);
  spec.sequence = spec.positions;
  spec.qkv_bias = spec.attention_output_bias = spec.mlp_bias = true;
  spec.tied_embeddings = keys.flag("tie_word_embeddings", true);
  spec.dropout = keys.dropout("resid_pdrop", 0.1);
  spec.attention_dropout = keys.dropout("attn_pdrop", 0.1);
  spec.embedding_dropout = keys.dropout("embd_pdrop", 0.1);
  spec.activation_keeps_input = keeps_input(keys, "activation_function", "gelu_new");
  if (keys.flag("add_cross_attention", false)) {
    keys.refuse("add_cross_attention", "false; cross attention is not modelled");
  }
  return spec;
}

TransformerSpec read_gpt_neox(ConfigKeys& keys) {
  TransformerSpec spec;
  spec.vocabulary = keys.size("vocab_size", 50432, kMostVocabulary);
  spec.hidden = keys.size("hidden_size", 6144, kMostHidden);
  spec.blocks = keys.size("num_hidden_layers", 44, kMostBlocks);
  spec.heads = keys.size("num_attention_heads", 64, kMostHeads);
  divide_heads(keys, "hidden_size", "num_attention_heads", spec);
  spec.intermediate = keys.size("intermediate_size", 24576, kMostIntermediate);
  spec.sequence = keys.size("max_position_embeddings", 2048, kMostTokens);
  spec.qkv_bias = spec.attention_output_bias = keys.flag("attention_bias", true);
  spec.mlp_bias = true;
  spec.tied_embeddings = keys.flag("tie_word_embeddings", false);
  spec.dropout = spec.embedding_dropout = keys.dropout("hidden_dropout", 0);
  spec.attention_dropout = keys.dropout("attention_dropout", 0);
  spec.activation_keeps_input = keeps_input(keys, "hidden_act", "gelu");
  spec.parallel_residual = keys.flag("use_parallel_residual", true);
  return spec;
}

void refuse_opt_variants(ConfigKeys& keys) {
  if (!keys.flag("layer_norm_elementwise_affine", true)) {
    keys.refuse("layer_norm_elementwise_affine", "true; norms without parameters are not modelled");
  }
  if (keys.dropout("layerdrop", 0)) {
    keys.refuse("layerdrop", "0; blocks that are left out are not modelled");
  }
}

TransformerSpec read_opt(ConfigKeys& keys) {
  TransformerSpec spec;
  spec.vocabulary = keys.size("vocab_size", 50272, kMostVocabulary);
  spec.hidden = keys.size("hidden_size", 768, kMostHidden);
  spec.blocks = keys.size("num_hidden_layers", 12, kMostBlocks);
  spec.heads = keys.size("num_attention_heads", 12, kMostHeads);
  divide_heads(keys, "hidden_size", "num_attention_heads", spec);
  spec.intermediate = keys.size("ffn_dim", 3072, kMostIntermediate);
  spec.sequence = keys.size("max_position_embeddings", 2048, kMostTokens);
  spec.positions = spec.sequence + kOptPositionOffset;
  const std::size_t word_width =
      keys.optional_size("word_embed_proj_dim", kMostHidden).value_or(spec.hidden);
  spec.token_embedding = word_width == spec.hidden ? 0 : word_width;
  spec.qkv_bias = spec.attention_output_bias = spec.mlp_bias = keys.flag("enable_bias", true);
  spec.tied_embeddings = keys.flag("tie_word_embeddings", true);
  const bool norms_first = keys.flag("do_layer_norm_before", true);
  spec.final_norm = !keys.flag("_remove_final_layer_norm", false) && norms_first;
  spec.dropout = keys.dropout("dropout", 0.1);
  spec.attention_dropout = keys.dropout("attention_dropout", 0);
  spec.activation_keeps_input = keeps_input(keys, "activation_function", "relu");
  refuse_opt_variants(keys);
  return spec;
}

constexpr std::array<HfFamily, 6> kFamilies = {
    {{"llama", "LlamaForCausalLM", read_llama, "max_position_embeddings", ""},
     {"mistral", "MistralForCausalLM", read_mistral, "max_position_embeddings", ""},
     {"qwen2", "Qwen2ForCausalLM", read_qwen2, "max_position_embeddings", ""},
     {"gpt2", "GPT2LMHeadModel", read_gpt2, "n_positions", "max_position_embeddings"},
     {"gpt_neox", "GPTNeoXForCausalLM", read_gpt_neox, "max_position_embeddings", ""},
     {"opt", "OPTForCausalLM", read_opt, "max_position_embeddings", ""}}};

struct Missing {
  std::string_view model_type;
  std::string_view what;
};

constexpr std::array<Missing, 40> kMissing = {{
    {"mixtral", "experts"},
    {"qwen2_moe", "experts"},
    {"qwen3_moe", "experts"},
    {"olmoe", "experts"},
    {"dbrx", "experts"},
    {"phimoe", "experts"},
    {"granitemoe", "experts"},
    {"gpt_oss", "experts"},
    {"llama4", "experts"},
    {"llama4_text", "experts"},
    {"deepseek_v2", "experts and latent attention"},
    {"deepseek_v3", "experts and latent attention"},
    {"t5", "an encoder beside the decoder"},
    {"mt5", "an encoder beside the decoder"},
    {"bart", "an encoder beside the decoder"},
    {"mbart", "an encoder beside the decoder"},
    {"marian", "an encoder beside the decoder"},
    {"pegasus", "an encoder beside the decoder"},
    {"whisper", "an encoder beside the decoder"},
    {"encoder-decoder", "an encoder beside the decoder"},
    {"bert", "an encoder's pooler and heads"},
    {"roberta", "an encoder's pooler and heads"},
    {"distilbert", "an encoder's pooler and heads"},
    {"vit", "images"},
    {"clip", "images"},
    {"llava", "images"},
    {"mllama", "images"},
    {"qwen2_vl", "images"},
    {"mamba", "state spaces in place of attention"},
    {"mamba2", "state spaces in place of attention"},
    {"jamba", "state spaces and experts"},
    {"rwkv", "recurrence in place of attention"},
    {"bloom", "ALiBi and a norm of the embeddings"},
    {"mpt", "ALiBi"},
    {"qwen3", "norms of queries and keys"},
    {"gemma2", "four norms in a block"},
    {"gemma3", "four norms in a block"},
    {"gpt_neo", "local attention"},
    {"gptj", "a parallel residual with one norm, and a bias of the head"},
    {"falcon", "its choice of norms and query groups"},
}};

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }

std::string_view missing_for(std::string_view model_type) {
  for (const Missing& missing : kMissing) {
    if (missing.model_type == model_type) {
      return missing.what;
    }
  }
  return {};
}

}  // namespace shardscope
