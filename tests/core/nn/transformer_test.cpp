#include "core/nn/transformer.h"

#include <gtest/gtest.h>

#include <set>

namespace shardscope {
namespace {

TransformerSpec gpt2() {
  TransformerSpec spec;
  spec.architecture = "gpt2";
  spec.vocabulary = 50257;
  spec.hidden = 768;
  spec.blocks = 12;
  spec.heads = spec.kv_heads = 12;
  spec.head_dim = 64;
  spec.intermediate = 3072;
  spec.positions = spec.sequence = 1024;
  spec.qkv_bias = spec.attention_output_bias = spec.mlp_bias = true;
  spec.tied_embeddings = true;
  spec.dropout = spec.attention_dropout = spec.embedding_dropout = true;
  return spec;
}

TransformerSpec llama(std::size_t vocabulary, std::size_t hidden, std::size_t blocks,
                      std::size_t heads, std::size_t kv_heads, std::size_t intermediate) {
  TransformerSpec spec;
  spec.architecture = "llama";
  spec.vocabulary = vocabulary;
  spec.hidden = hidden;
  spec.blocks = blocks;
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.head_dim = hidden / heads;
  spec.intermediate = intermediate;
  spec.sequence = 4096;
  spec.gated_mlp = true;
  spec.norm = Norm::rms_norm;
  return spec;
}

TransformerSpec llama2_7b() { return llama(32000, 4096, 32, 32, 32, 11008); }
TransformerSpec llama3_8b() { return llama(128256, 4096, 32, 32, 8, 14336); }

TransformerSpec qwen2_7b() {
  TransformerSpec spec = llama(152064, 3584, 28, 28, 4, 18944);
  spec.architecture = "qwen2";
  spec.qkv_bias = true;
  return spec;
}

TransformerSpec gpt_neox_20b() {
  TransformerSpec spec;
  spec.architecture = "gpt_neox";
  spec.vocabulary = 50432;
  spec.hidden = 6144;
  spec.blocks = 44;
  spec.heads = spec.kv_heads = 64;
  spec.head_dim = 96;
  spec.intermediate = 24576;
  spec.sequence = 2048;
  spec.qkv_bias = spec.attention_output_bias = spec.mlp_bias = true;
  spec.parallel_residual = true;
  return spec;
}

TransformerSpec opt(std::size_t hidden, std::size_t blocks, std::size_t heads) {
  TransformerSpec spec = gpt2();
  spec.architecture = "opt";
  spec.vocabulary = 50272;
  spec.hidden = hidden;
  spec.blocks = blocks;
  spec.heads = spec.kv_heads = heads;
  spec.head_dim = hidden / heads;
  spec.intermediate = 4 * hidden;
  spec.positions = 2050;
  spec.sequence = 2048;
  spec.activation_keeps_input = false;
  return spec;
}

/// Of normed outputs and word embeddings of 512.
TransformerSpec opt_350m() {
  TransformerSpec spec = opt(1024, 24, 16);
  spec.token_embedding = 512;
  spec.final_norm = false;
  return spec;
}

std::vector<TransformerSpec> all_families() {
  TransformerSpec unfused = gpt2();
  unfused.fused_attention = false;
  return {gpt2(), unfused, llama3_8b(), qwen2_7b(), gpt_neox_20b(), opt(768, 12, 12), opt_350m()};
}

std::vector<std::string> tensor_names(const TransformerSpec& spec, std::size_t layer) {
  std::vector<std::string> names;
  for (const TensorShape& tensor : layer_tensors(spec, layer)) {
    names.push_back(tensor.name);
  }
  return names;
}

Cost sum(const std::vector<KernelCost>& kernels) {
  Cost total;
  for (const KernelCost& kernel : kernels) {
    total.flops += kernel.cost.flops;
    total.bytes += kernel.cost.bytes;
  }
  return total;
}

Cost cost_of(const std::vector<KernelCost>& kernels, std::string_view name) {
  Cost total;
  for (const KernelCost& kernel : kernels) {
    if (kernel.kernel == name) {
      total = kernel.cost;
    }
  }
  return total;
}

TEST(TransformerParameters, AreThePublishedCounts) {
  EXPECT_EQ(parameters(gpt2()), 124'439'808U);
  EXPECT_EQ(parameters(llama2_7b()), 6'738'415'616U);
  EXPECT_EQ(parameters(llama(32000, 8192, 80, 64, 8, 28672)), 68'976'648'192U);
  EXPECT_EQ(parameters(llama3_8b()), 8'030'261'248U);
  EXPECT_EQ(parameters(llama(32000, 4096, 32, 32, 8, 14336)), 7'241'732'096U);  // Mistral-7B
  EXPECT_EQ(parameters(qwen2_7b()), 7'615'616'512U);
  EXPECT_EQ(parameters(gpt_neox_20b()), 20'554'567'680U);
  EXPECT_EQ(parameters(opt(768, 12, 12)), 125'239'296U);
  EXPECT_EQ(parameters(opt_350m()), 331'196'416U);
}

TEST(TransformerParameters, AreThoseOfTheLayersTensors) {
  for (const TransformerSpec& spec : all_families()) {
    std::size_t elements = 0;
    std::set<std::string> names;
    for (std::size_t layer = 0; layer < layer_count(spec); ++layer) {
      std::size_t of_layer = 0;
      for (const TensorShape& tensor : layer_tensors(spec, layer)) {
        of_layer += tensor.elements;
        EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
        EXPECT_GT(tensor.elements, 0U) << tensor.name;
      }
      EXPECT_EQ(layer_parameters(spec, layer), of_layer);
      elements += of_layer;
    }
    EXPECT_EQ(parameters(spec), elements) << spec.architecture;
  }
}

TEST(TransformerParameters, AreNamedAndOrderedAsInTorch) {
  EXPECT_EQ(tensor_names(gpt2(), 0), (std::vector<std::string>{"wte.weight", "wpe.weight"}));
  EXPECT_EQ(tensor_names(gpt2(), 12),
            (std::vector<std::string>{
                "h.11.ln_1.weight", "h.11.ln_1.bias", "h.11.attn.c_attn.weight",
                "h.11.attn.c_attn.bias", "h.11.attn.c_proj.weight", "h.11.attn.c_proj.bias",
                "h.11.ln_2.weight", "h.11.ln_2.bias", "h.11.mlp.c_fc.weight", "h.11.mlp.c_fc.bias",
                "h.11.mlp.c_proj.weight", "h.11.mlp.c_proj.bias"}));
  EXPECT_EQ(tensor_names(gpt2(), 13), (std::vector<std::string>{"ln_f.weight", "ln_f.bias"}));
  EXPECT_EQ(tensor_names(qwen2_7b(), 1),
            (std::vector<std::string>{
                "layers.0.self_attn.q_proj.weight", "layers.0.self_attn.q_proj.bias",
                "layers.0.self_attn.k_proj.weight", "layers.0.self_attn.k_proj.bias",
                "layers.0.self_attn.v_proj.weight", "layers.0.self_attn.v_proj.bias",
                "layers.0.self_attn.o_proj.weight", "layers.0.mlp.gate_proj.weight",
                "layers.0.mlp.up_proj.weight", "layers.0.mlp.down_proj.weight",
                "layers.0.input_layernorm.weight", "layers.0.post_attention_layernorm.weight"}));
  EXPECT_EQ(tensor_names(llama3_8b(), 33),
            (std::vector<std::string>{"norm.weight", "lm_head.weight"}));
  EXPECT_EQ(tensor_names(opt(768, 12, 12), 1).front(), "layers.0.self_attn.k_proj.weight");
  EXPECT_EQ(tensor_names(gpt_neox_20b(), 45).back(), "embed_out.weight");
}

TEST(TransformerParameters, OfOtherArchitecturesAreNamedAsLlamas) {
  TransformerSpec spec = llama2_7b();
  spec.architecture = "transformer";
  EXPECT_EQ(tensor_names(spec, 1), tensor_names(llama2_7b(), 1));
  spec.positions = 10;
  EXPECT_EQ(tensor_names(spec, 0).back(), "embed_positions.weight");
  spec.head_bias = true;
  EXPECT_EQ(layer_tensors(spec, 33).back().name, "lm_head.bias");
  EXPECT_EQ(layer_tensors(spec, 33).back().elements, 32000U);
}

TEST(TransformerParameters, OfOneNormPerBlockLackTheSecond) {
  TransformerSpec spec = gpt_neox_20b();
  const std::size_t with_two = layer_parameters(spec, 1);
  spec.norms_per_block = 1;
  EXPECT_EQ(with_two - layer_parameters(spec, 1), 2U * 6144);
}

TEST(TransformerOutputs, AreHiddenStatesAndLogits) {
  EXPECT_EQ(output_elements(gpt2(), 0), 1024U * 768);
  EXPECT_EQ(output_elements(gpt2(), 12), 1024U * 768);
  EXPECT_EQ(output_elements(gpt2(), 13), 1024U * 50257);
}

// Korthikanti et al. 2022, equation 1 with one sequence and one rank: s h (34 + 5 a s / h) bytes,
// of which 2 s h are the block's input; without the term of the scores once they are not kept.
TEST(TransformerActivations, OfAGptBlockAreThePublishedFormula) {
  TransformerSpec spec = gpt2();
  const std::uint64_t s = 1024;
  const std::uint64_t h = 768;
  const std::uint64_t a = 12;
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    spec.fused_attention = false;
    EXPECT_EQ(2 * s * h + saved_bytes(spec, 1, dtype), 34 * s * h + 5 * a * s * s);
    spec.fused_attention = true;
    EXPECT_EQ(2 * s * h + saved_bytes(spec, 12, dtype), 34 * s * h);
  }
  // GPT-3, for which the paper has 5 a s / h = 80.
  spec.hidden = 12288;
  spec.heads = spec.kv_heads = 96;
  spec.head_dim = 128;
  spec.intermediate = 49152;
  spec.sequence = 2048;
  const std::uint64_t fused = saved_bytes(spec, 1, DType::bf16);
  spec.fused_attention = false;
  EXPECT_EQ(saved_bytes(spec, 1, DType::bf16) - fused, 80U * 2048 * 12288);
}

TEST(TransformerActivations, OfFp32DoubleAllButMasks) {
  TransformerSpec spec = gpt2();
  spec.fused_attention = false;
  const std::uint64_t masks = std::uint64_t{1024} * (2 * 768 + 12 * 1024);
  for (std::size_t layer = 1; layer <= spec.blocks; ++layer) {
    EXPECT_EQ(saved_bytes(spec, layer, DType::fp32) - masks,
              2 * (saved_bytes(spec, layer, DType::bf16) - masks));
  }
  EXPECT_EQ(saved_bytes(spec, 0, DType::fp32), 1024U * 768);
  EXPECT_EQ(saved_bytes(spec, 0, DType::bf16), 1024U * 768);
}

TEST(TransformerActivations, WithoutDropoutHaveNoMasks) {
  TransformerSpec spec = gpt2();
  spec.dropout = spec.attention_dropout = spec.embedding_dropout = false;
  EXPECT_EQ(saved_bytes(spec, 1, DType::bf16), 30U * 1024 * 768);
  EXPECT_EQ(saved_bytes(spec, 0, DType::bf16), 0U);
  spec.fused_attention = false;
  EXPECT_EQ(saved_bytes(spec, 1, DType::bf16), 1024U * (30 * 768 + 2 * 12 * 1024));
}

// Llama 3 8B: four hidden widths (two norms' outputs, the second norm's input, the attention's
// output), queries of 4096, keys and values of 1024 each, four tensors of 14336 in the MLP.
TEST(TransformerActivations, OfGroupedQueriesAndGatedMlpsAreTheirTensors) {
  EXPECT_EQ(saved_bytes(llama3_8b(), 1, DType::bf16),
            2U * 4096 * (4 * 4096 + 4096 + 2 * 1024 + 4 * 14336));
}

TEST(TransformerActivations, OfReluAreItsOutputAlone) {
  EXPECT_EQ(saved_bytes(opt(768, 12, 12), 1, DType::bf16), 2048U * 768 * (32 - 8));
}

TEST(TransformerActivations, OfAParallelResidualKeepOneInput) {
  TransformerSpec spec = gpt_neox_20b();
  EXPECT_EQ(saved_bytes(spec, 1, DType::bf16), 28U * 2048 * 6144);
  spec.norms_per_block = 1;
  EXPECT_EQ(saved_bytes(spec, 1, DType::bf16), 26U * 2048 * 6144);
}

TEST(TransformerActivations, OfTheHeadAreItsNormAndFp32Logits) {
  EXPECT_EQ(saved_bytes(gpt2(), 13, DType::bf16), 1024U * (2 * 768 + 4 * 50257));
  EXPECT_EQ(saved_bytes(gpt2(), 13, DType::fp32), 1024U * (4 * 768 + 4 * 50257));
  EXPECT_EQ(saved_bytes(opt_350m(), 25, DType::bf16), 2048U * (2 * 512 + 4 * 50272));
  EXPECT_EQ(saved_bytes(opt_350m(), 0, DType::bf16), 2048U * (2 * 512 + 1024));
}

// 6 P per token and 12 blocks hidden sequence, less what P has and no product multiplies: biases,
// norms, positions, and the token embedding where it is no output projection.
TEST(TransformerFlops, AreSixPerParameterAndTwelveForAttention) {
  const double rows = 3;
  const TransformerSpec small = gpt2();
  const double biases_and_norms = 12 * (9 + 4) * 768 + 2 * 768;
  const double positions = 1024 * 768;
  EXPECT_EQ(
      model_flops(small, 3),
      rows * 1024 * (6 * (124'439'808 - biases_and_norms - positions) + 12.0 * 12 * 768 * 1024));

  const TransformerSpec large = llama2_7b();
  const double norms = (2 * 32 + 1) * 4096;
  const double embedding = 32000.0 * 4096;
  EXPECT_EQ(model_flops(large, 3),
            rows * 4096 * (6 * (6'738'415'616 - norms - embedding) + 12.0 * 32 * 4096 * 4096));
}

// Korthikanti et al. 2022, appendix A, a GPT's forward and backward without recomputation:
// 72 B s l h^2 (1 + s / 6h + V / 12 l h).
TEST(TransformerFlops, OfAGptAreThePublishedFormula) {
  const double s = 1024;
  const double h = 768;
  const double l = 12;
  const double v = 50257;
  const double published = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(model_flops(gpt2(), 1) / published, 1, 1e-12);
}

TEST(TransformerFlops, OfBackwardAreTwiceThoseOfForward) {
  for (const TransformerSpec& spec : all_families()) {
    for (std::size_t layer = 0; layer < layer_count(spec); ++layer) {
      const auto backward = backward_kernels(spec, layer, 2, DType::bf16);
      const double anew = cost_of(backward, "attention").flops / 5;
      EXPECT_DOUBLE_EQ(sum(backward).flops - anew,
                       2 * sum(forward_kernels(spec, layer, 2, DType::bf16)).flops)
          << spec.architecture << " layer " << layer;
    }
  }
}

TEST(TransformerFlops, DoNotDependOnFusion) {
  TransformerSpec spec = gpt2();
  const double fused = sum(forward_kernels(spec, 1, 1, DType::bf16)).flops;
  spec.fused_attention = false;
  EXPECT_EQ(sum(forward_kernels(spec, 1, 1, DType::bf16)).flops, fused);
}

TEST(TransformerKernels, AreTheSameBackwards) {
  for (const TransformerSpec& spec : all_families()) {
    for (const std::size_t layer : {std::size_t{0}, std::size_t{1}, spec.blocks + 1}) {
      const auto forward = forward_kernels(spec, layer, 1, DType::bf16);
      const auto backward = backward_kernels(spec, layer, 1, DType::bf16);
      ASSERT_EQ(forward.size(), backward.size());
      for (std::size_t i = 0; i < forward.size(); ++i) {
        EXPECT_EQ(forward[i].kernel, backward[forward.size() - 1 - i].kernel);
        EXPECT_GT(forward[i].cost.bytes, 0);
        EXPECT_GT(backward[i].cost.bytes, 0);
      }
    }
  }
}

TEST(TransformerKernels, ReadEachParameterOnceForward) {
  for (const TransformerSpec& spec : all_families()) {
    // Bytes are affine in the rows; the part that does not grow are the parameters.
    const double one = sum(forward_kernels(spec, 1, 1, DType::bf16)).bytes;
    const double two = sum(forward_kernels(spec, 1, 2, DType::bf16)).bytes;
    EXPECT_EQ(2 * one - two, 2.0 * static_cast<double>(layer_parameters(spec, 1)))
        << spec.architecture;
  }
}

// Backward reads the weights for dx and writes a gradient of each parameter.
TEST(TransformerKernels, WriteEachGradientOnceBackward) {
  const TransformerSpec spec = llama3_8b();
  const double one = sum(backward_kernels(spec, 1, 1, DType::bf16)).bytes;
  const double two = sum(backward_kernels(spec, 1, 2, DType::bf16)).bytes;
  EXPECT_EQ(2 * one - two, 2.0 * 2 * static_cast<double>(layer_parameters(spec, 1)));
  const double embedding = sum(backward_kernels(spec, 0, 1, DType::bf16)).bytes;
  EXPECT_EQ(embedding, 4096 * (8 + 2 * 4096.0) + 2.0 * 128256 * 4096);
}

TEST(TransformerKernels, OfFusedAttentionMoveNoScores) {
  TransformerSpec spec = llama3_8b();
  const double tokens = 2 * 4096;
  const double width = 4096 + 2 * 1024 + 4096;
  EXPECT_EQ(cost_of(forward_kernels(spec, 1, 2, DType::bf16), "attention").bytes,
            2 * tokens * width);
  spec.fused_attention = false;
  const auto kernels = forward_kernels(spec, 1, 2, DType::bf16);
  const double scores = tokens * 32 * 4096;
  EXPECT_EQ(cost_of(kernels, "softmax").bytes, 2 * 2 * scores);
  EXPECT_EQ(cost_of(kernels, "scores").bytes, 2 * (tokens * (4096 + 1024) + scores));
  EXPECT_EQ(cost_of(kernels, "weighted_values").bytes, cost_of(kernels, "scores").bytes);
  EXPECT_EQ(cost_of(kernels, "attention").bytes, 0);
}

TEST(TransformerKernels, ScaleWithTheElementsSizeButForMasksTokensAndFp32Logits) {
  TransformerSpec spec = gpt2();
  spec.fused_attention = false;
  const double masks = 1024 * (2 * 768 + 12 * 1024.0);
  EXPECT_EQ(sum(forward_kernels(spec, 1, 1, DType::fp32)).bytes - masks,
            2 * (sum(forward_kernels(spec, 1, 1, DType::bf16)).bytes - masks));
  EXPECT_EQ(cost_of(forward_kernels(spec, 13, 1, DType::bf16), "fp32_logits").bytes,
            6 * 1024 * 50257.0);
}

}  // namespace
}  // namespace shardscope
