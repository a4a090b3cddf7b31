#include "sim/models/hf_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

constexpr const char* kGpt2 = R"({
  "architectures": ["GPT2LMHeadModel"],
  "model_type": "gpt2",
  "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_ctx": 1024,
  "vocab_size": 50257, "activation_function": "gelu_new",
  "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}
})";

constexpr const char* kLlama2_7b = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32000,
  "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 4096,
  "hidden_act": "silu", "pretraining_tp": 1, "rope_scaling": null, "tie_word_embeddings": false
})";

constexpr const char* kLlama3_8b = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 128256,
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192,
  "attention_bias": false, "attention_dropout": 0.0, "rope_theta": 500000.0
})";

constexpr const char* kMistral7b = R"({
  "architectures": ["MistralForCausalLM"], "model_type": "mistral", "vocab_size": 32000,
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 32768,
  "sliding_window": 4096
})";

constexpr const char* kQwen2_7b = R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "vocab_size": 152064,
  "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
  "num_attention_heads": 28, "num_key_value_heads": 4, "max_position_embeddings": 131072,
  "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28
})";

constexpr const char* kGptNeox20b = R"({
  "architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox", "vocab_size": 50432,
  "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 44,
  "num_attention_heads": 64, "max_position_embeddings": 2048, "hidden_act": "gelu_fast",
  "rotary_pct": 0.25, "rotary_emb_base": 10000
})";

constexpr const char* kOpt125m = R"({
  "architectures": ["OPTForCausalLM"], "model_type": "opt", "vocab_size": 50272,
  "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
  "max_position_embeddings": 2048, "word_embed_proj_dim": 768, "do_layer_norm_before": true,
  "activation_function": "relu", "dropout": 0.1, "activation_dropout": 0.0, "layerdrop": 0.0
})";

constexpr const char* kOpt350m = R"({
  "architectures": ["OPTForCausalLM"], "model_type": "opt", "vocab_size": 50272,
  "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
  "max_position_embeddings": 2048, "word_embed_proj_dim": 512, "do_layer_norm_before": false
})";

HfModel model_of(const std::string& content, std::size_t sequence = 0) {
  const TemporaryFolder folder;
  std::vector<Fault> faults;
  const auto model = read_hf_config(folder.write("config.json", content), sequence, faults);
  for (const Fault& fault : faults) {
    ADD_FAILURE() << format_fault(fault);
  }
  return model.value_or(HfModel{});
}

/// The faults, each without the folder's path.
std::vector<std::string> faults_of(const std::string& content, std::size_t sequence = 0) {
  const TemporaryFolder folder;
  std::vector<Fault> faults;
  const auto model = read_hf_config(folder.write("config.json", content), sequence, faults);
  EXPECT_EQ(model.has_value(), faults.empty());
  std::vector<std::string> lines;
  for (const Fault& fault : faults) {
    const std::string line = format_fault(fault);
    const std::string prefix = folder.path("");
    EXPECT_EQ(line.rfind(prefix, 0), 0U) << line;
    lines.push_back(line.substr(prefix.size()));
  }
  return lines;
}

/// A file of these keys alone, each on a line of its own from the third on.
std::string config(const std::string& model_type, const std::vector<std::string>& keys) {
  std::string text = "{\n\"model_type\": \"" + model_type + "\"";
  for (const std::string& key : keys) {
    text += ",\n" + key;
  }
  return text + "\n}\n";
}

using Lines = std::vector<std::string>;

TEST(HfConfig, OfRealModelsHaveTheirParameters) {
  EXPECT_EQ(parameters(model_of(kGpt2).spec), 124'439'808U);
  EXPECT_EQ(parameters(model_of(kLlama2_7b).spec), 6'738'415'616U);
  EXPECT_EQ(parameters(model_of(kLlama3_8b).spec), 8'030'261'248U);
  EXPECT_EQ(parameters(model_of(kMistral7b).spec), 7'241'732'096U);
  EXPECT_EQ(parameters(model_of(kQwen2_7b).spec), 7'615'616'512U);
  EXPECT_EQ(parameters(model_of(kGptNeox20b).spec), 20'554'567'680U);
  EXPECT_EQ(parameters(model_of(kOpt125m).spec), 125'239'296U);
  EXPECT_EQ(parameters(model_of(kOpt350m).spec), 331'196'416U);
}

TEST(HfConfig, HasTheModelsLongestRowUnlessToldOtherwise) {
  EXPECT_EQ(model_of(kGpt2).spec.sequence, 1024U);
  EXPECT_EQ(model_of(kGpt2, 512).spec.sequence, 512U);
  EXPECT_EQ(model_of(kLlama3_8b).spec.sequence, 8192U);
  EXPECT_EQ(model_of(kOpt125m).spec.sequence, 2048U);
  EXPECT_EQ(model_of(kOpt125m).spec.positions, 2050U);
}

TEST(HfConfig, NotesRowsLongerThanARotaryModelIsMadeFor) {
  const HfModel model = model_of(kLlama3_8b, 16384);
  EXPECT_EQ(model.spec.sequence, 16384U);
  EXPECT_EQ(model.notes, (Lines{"rows of 16384 tokens are longer than max_position_embeddings, "
                                "8192, for which the model is made"}));
}

TEST(HfConfig, HasTheFamiliesDropouts) {
  const TransformerSpec gpt2 = model_of(kGpt2).spec;
  EXPECT_TRUE(gpt2.dropout && gpt2.attention_dropout && gpt2.embedding_dropout);
  const TransformerSpec opt = model_of(kOpt125m).spec;
  EXPECT_TRUE(opt.dropout && !opt.attention_dropout && !opt.embedding_dropout);
  const TransformerSpec llama = model_of(config("llama", {"\"attention_dropout\": 0.1"})).spec;
  EXPECT_TRUE(!llama.dropout && llama.attention_dropout && !llama.embedding_dropout);
  const TransformerSpec neox = model_of(config("gpt_neox", {"\"hidden_dropout\": 0.1"})).spec;
  EXPECT_TRUE(neox.dropout && !neox.attention_dropout && neox.embedding_dropout);
}

TEST(HfConfig, HasTheActivationsDerivative) {
  EXPECT_FALSE(model_of(kOpt125m).spec.activation_keeps_input);
  EXPECT_TRUE(model_of(kGpt2).spec.activation_keeps_input);
  EXPECT_FALSE(
      model_of(config("gpt2", {"\"activation_function\": \"relu\""})).spec.activation_keeps_input);
}

// Each empty configuration is a published model: GPT-2, OPT-125m, GPT-NeoX-20B, Mistral-7B and the
// first LLaMA-7B, whose counts are those of the second.
TEST(HfConfig, OfNoSizesIsTheDefaultOfTransformersAndSaysSo) {
  EXPECT_EQ(parameters(model_of(config("gpt2", {})).spec), 124'439'808U);
  EXPECT_EQ(parameters(model_of(config("opt", {})).spec), 125'239'296U);
  EXPECT_EQ(parameters(model_of(config("gpt_neox", {})).spec), 20'554'567'680U);
  EXPECT_EQ(parameters(model_of(config("mistral", {})).spec), 7'241'732'096U);
  EXPECT_EQ(parameters(model_of(config("llama", {})).spec), 6'738'415'616U);
  EXPECT_EQ(model_of(config("qwen2", {})).spec.kv_heads, 32U);
  const Lines notes = model_of(config("gpt2", {"\"n_embd\": 768", "\"n_head\": 12"})).notes;
  EXPECT_EQ(notes, (Lines{"vocab_size is not given: 50257, the default in transformers",
                          "n_layer is not given: 12, the default in transformers",
                          "n_positions is not given: 1024, the default in transformers"}));
}

TEST(HfConfig, KeyValueHeadsOfNullAreAllHeads) {
  const std::string null_heads = "\"num_key_value_heads\": null";
  EXPECT_EQ(model_of(config("mistral", {})).spec.kv_heads, 8U);
  EXPECT_EQ(model_of(config("mistral", {null_heads})).spec.kv_heads, 32U);
  EXPECT_EQ(model_of(config("llama", {null_heads})).spec.kv_heads, 32U);
  EXPECT_EQ(model_of(config("qwen2", {null_heads})).spec.kv_heads, 32U);
}

TEST(HfConfig, HeadsHaveTheWidthThatIsGiven) {
  EXPECT_EQ(model_of(kMistral7b).spec.head_dim, 128U);
  // Mistral-Nemo: 32 heads of 128 at a width of 5120.
  const HfModel nemo = model_of(
      config("mistral", {"\"hidden_size\": 5120, \"num_hidden_layers\": 40",
                         "\"vocab_size\": 131072, \"head_dim\": 128, \"sliding_window\": null"}));
  EXPECT_EQ(nemo.spec.head_dim, 128U);
  EXPECT_EQ(parameters(nemo.spec), 12'247'782'400U);
  EXPECT_EQ(model_of(config("llama", {"\"head_dim\": null"})).spec.head_dim, 128U);
}

TEST(HfConfig, BiasesAndTyingFollowTheirKeys) {
  const TransformerSpec plain = model_of(config("llama", {})).spec;
  const TransformerSpec biased =
      model_of(config("llama", {"\"attention_bias\": true", "\"mlp_bias\": true"})).spec;
  EXPECT_EQ(layer_parameters(biased, 1) - layer_parameters(plain, 1), 4U * 4096 + 2 * 11008 + 4096);
  EXPECT_EQ(parameters(plain) -
                parameters(model_of(config("llama", {"\"tie_word_embeddings\": true"})).spec),
            32000U * 4096);
  EXPECT_EQ(parameters(model_of(config("gpt2", {"\"tie_word_embeddings\": false"})).spec),
            124'439'808U + 50257 * 768);
  const TransformerSpec opt = model_of(config("opt", {"\"enable_bias\": false"})).spec;
  EXPECT_EQ(layer_parameters(opt, 1), 4U * 768 * 768 + 2 * 768 * 3072 + 4 * 768);
  const TransformerSpec neox = model_of(config("gpt_neox", {"\"attention_bias\": false",
                                                            "\"use_parallel_residual\": false"}))
                                   .spec;
  EXPECT_FALSE(neox.qkv_bias || neox.attention_output_bias || neox.parallel_residual);
}

TEST(HfConfig, Gpt2AlsoHasTheOtherFamiliesNames) {
  const TransformerSpec spec =
      model_of(config("gpt2", {"\"hidden_size\": 64", "\"num_hidden_layers\": 3",
                               "\"num_attention_heads\": 4", "\"max_position_embeddings\": 128",
                               "\"n_inner\": 100"}))
          .spec;
  EXPECT_EQ(spec.hidden, 64U);
  EXPECT_EQ(spec.blocks, 3U);
  EXPECT_EQ(spec.heads, 4U);
  EXPECT_EQ(spec.positions, 128U);
  EXPECT_EQ(spec.intermediate, 100U);
  EXPECT_EQ(model_of(config("gpt2", {"\"n_embd\": 64", "\"n_head\": 4", "\"n_inner\": null"}))
                .spec.intermediate,
            256U);
  EXPECT_EQ(
      faults_of(config("gpt2", {"\"n_embd\": 768", "\"hidden_size\": 780", "\"n_positions\": 64",
                                "\"max_position_embeddings\": 32"})),
      (Lines{"config.json:4: hidden_size: 780 is not n_embd, which is another name of it; 768",
             "config.json:6: max_position_embeddings: 32 is not n_positions, which is another "
             "name of it; 64"}));
}

TEST(HfConfig, NotesWhatChangesNoParametersAndIsNotModelled) {
  EXPECT_EQ(model_of(kMistral7b).notes,
            (Lines{"sliding_window 4096 is not modelled: longer rows attend to all of their "
                   "tokens"}));
  EXPECT_EQ(model_of(kQwen2_7b).notes, Lines{});
  const Lines notes =
      model_of(config("llama", {"\"quantization_config\": {\"bits\": 4}",
                                "\"auto_map\": {\"AutoModel\": \"modeling.Model\"}"}))
          .notes;
  EXPECT_NE(
      std::find(notes.begin(), notes.end(),
                "quantization_config is not modelled: all weights are of the training's type"),
      notes.end());
  EXPECT_NE(std::find(notes.begin(), notes.end(),
                      "auto_map is not followed: the model is taken for transformers' own llama"),
            notes.end());
}

TEST(HfConfigFaults, NameTheFamiliesThatAreReadAndWhatOthersNeed) {
  const std::string families = "one of llama, mistral, qwen2, gpt2, gpt_neox, opt";
  EXPECT_EQ(faults_of("{}"), (Lines{"config.json: model_type: missing; " + families}));
  EXPECT_EQ(faults_of(config("mixtral", {})),
            (Lines{"config.json:2: model_type: \"mixtral\" is not modelled: it needs experts; " +
                   families}));
  EXPECT_EQ(faults_of(config("t5", {})),
            (Lines{"config.json:2: model_type: \"t5\" is not modelled: it needs an encoder "
                   "beside the decoder; " +
                   families}));
  EXPECT_EQ(
      faults_of(config("lama", {})),
      (Lines{"config.json:2: model_type: \"lama\" is not modelled; did you mean \"llama\"? (" +
             families + ")"}));
  EXPECT_EQ(faults_of("{\"model_type\": 3}"),
            (Lines{"config.json:1: model_type: 3 is not modelled; " + families}));
}

TEST(HfConfigFaults, OfSizesNameLineValueAndRangeAllAtOnce) {
  const Lines faults = faults_of(config(
      "llama",
      {"\"vocab_size\": 0", "\"hidden_size\": -4096", "\"intermediate_size\": 11008.5",
       "\"num_hidden_layers\": \"32\"", "\"num_attention_heads\": 1e300", "\"head_dim\": true",
       "\"max_position_embeddings\": null", "\"num_key_value_heads\": 99999999999999999999"}));
  const std::string range = " is not allowed; a whole number from 1 to ";
  EXPECT_EQ(faults,
            (Lines{"config.json:3: vocab_size: 0" + range + "16777216",
                   "config.json:4: hidden_size: -4096" + range + "262144",
                   "config.json:5: intermediate_size: 11008.5" + range + "4194304",
                   "config.json:6: num_hidden_layers: \"32\"" + range + "4096",
                   "config.json:7: num_attention_heads: 1e300" + range + "4096",
                   "config.json:8: head_dim: true" + range + "4096",
                   "config.json:10: num_key_value_heads: 99999999999999999999" + range + "4096",
                   "config.json:9: max_position_embeddings: null" + range + "16777216"}));
}

TEST(HfConfigFaults, OfHeadsThatDoNotDivide) {
  EXPECT_EQ(faults_of(config("gpt2", {"\"n_embd\": 100", "\"n_head\": 12"})),
            (Lines{"config.json:4: n_head: 12 heads do not divide; a divisor of n_embd, 100"}));
  EXPECT_EQ(
      faults_of(config("llama", {"\"num_attention_heads\": 32", "\"num_key_value_heads\": 5"})),
      (Lines{"config.json:4: num_key_value_heads: 5 does not divide; a divisor of "
             "num_attention_heads, 32"}));
  EXPECT_EQ(faults_of(config("mistral", {"\"num_attention_heads\": 4"})),
            (Lines{"config.json: num_key_value_heads: 8 does not divide; a divisor of "
                   "num_attention_heads, 4"}));
  EXPECT_EQ(faults_of(config("qwen2", {"\"head_dim\": 127"})),
            (Lines{"config.json:3: head_dim: heads of 127 elements; an even number, for rotary "
                   "embedding"}));
}

TEST(HfConfigFaults, OfOtherTypesOfValues) {
  EXPECT_EQ(faults_of(config(
                "opt", {"\"tie_word_embeddings\": 1", "\"dropout\": 1.5",
                        "\"attention_dropout\": \"none\"", "\"activation_function\": \"rleu\""})),
            (Lines{"config.json:3: tie_word_embeddings: 1 is not allowed; true or false",
                   "config.json:4: dropout: 1.5 is not allowed; a number from 0 to below 1",
                   "config.json:5: attention_dropout: \"none\" is not allowed; a number from 0 to "
                   "below 1",
                   "config.json:6: activation_function: \"rleu\" is not allowed; did you mean "
                   "\"relu\"? (one of gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, "
                   "silu, swish, relu, tanh, sigmoid)"}));
}

TEST(HfConfigFaults, OfWhatWouldChangeTheParameters) {
  EXPECT_EQ(
      faults_of(config("gpt2", {"\"add_cross_attention\": true", "\"is_encoder_decoder\": true",
                                "\"pruned_heads\": {\"0\": [1, 2]}",
                                "\"architectures\": [\"GPT2DoubleHeadsModel\"]"})),
      (Lines{"config.json:6: architectures: [\"GPT2DoubleHeadsModel\"] is not allowed; "
             "[\"GPT2LMHeadModel\"]",
             "config.json:4: is_encoder_decoder: true is not allowed; false; an encoder is not "
             "modelled",
             "config.json:5: pruned_heads: {\"0\":[1,2]} is not allowed; none; heads that are left "
             "out are not modelled",
             "config.json:3: add_cross_attention: true is not allowed; false; cross attention is "
             "not modelled"}));
  EXPECT_EQ(
      faults_of(config("opt", {"\"layerdrop\": 0.1", "\"layer_norm_elementwise_affine\": false"})),
      (Lines{"config.json:4: layer_norm_elementwise_affine: false is not allowed; true; norms "
             "without parameters are not modelled",
             "config.json:3: layerdrop: 0.1 is not allowed; 0; blocks that are left out are "
             "not modelled"}));
  EXPECT_EQ(
      model_of(config("gpt2", {"\"pruned_heads\": {}", "\"architectures\": null"})).spec.heads,
      12U);
}

TEST(HfConfigFaults, OfRowsLongerThanLearnedPositions) {
  EXPECT_EQ(faults_of(kGpt2, 2048),
            (Lines{"config.json:4: n_positions: rows of 2048 tokens are longer than the model "
                   "allows; at most 1024 tokens"}));
  EXPECT_EQ(faults_of(kOpt125m, 2049).size(), 1U);
  EXPECT_EQ(model_of(kOpt125m, 2048).spec.sequence, 2048U);
  EXPECT_EQ(faults_of(config("gpt2", {"\"max_position_embeddings\": 16"}), 17),
            (Lines{"config.json:3: max_position_embeddings: rows of 17 tokens are longer than the "
                   "model allows; at most 16 tokens"}));
  EXPECT_EQ(
      faults_of(kLlama2_7b, (std::size_t{1} << 24) + 1),
      (Lines{"config.json:4: max_position_embeddings: rows of 16777217 tokens are longer than "
             "the model allows; at most 16777216 tokens"}));
}

TEST(HfConfigFaults, OfMisspeltKeysNameTheRightOne) {
  EXPECT_EQ(faults_of(config("llama", {"\"hiden_size\": 64", "\"num_kv_heads\": 4",
                                       "\"attention_bais\": true"})),
            (Lines{"config.json:5: attention_bais: unknown field; did you mean \"attention_bias\"?",
                   "config.json:3: hiden_size: unknown field; did you mean \"hidden_size\"?"}));
}

TEST(HfConfigFaults, OfFilesThatAreNoConfiguration) {
  EXPECT_EQ(faults_of("[]"), (Lines{"config.json: [] is no configuration; a JSON object"}));
  EXPECT_EQ(faults_of("{\"model_type\": \"llama\",}").size(), 1U);
  EXPECT_EQ(faults_of("").size(), 1U);
  const Lines twice = faults_of("{\"model_type\": \"gpt2\",\n \"n_head\": 4, \"n_head\": 8}");
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_NE(twice.front().find("(line 2, column 15)"), std::string::npos) << twice.front();
  EXPECT_NE(twice.front().find("n_head"), std::string::npos) << twice.front();
  EXPECT_EQ(faults_of("\xef\xbb\xbf{\"model_type\": \"gpt2\",\r\n\"n_head\": 0}"),
            (Lines{"config.json:2: n_head: 0 is not allowed; a whole number from 1 to 4096"}));
  std::vector<Fault> faults;
  EXPECT_EQ(read_hf_config("/nonexistent/config.json", 0, faults), std::nullopt);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults.front().place, "/nonexistent/config.json");
}

// Whatever a byte becomes, the file is a model with finite counts or has faults.
TEST(HfConfigFaults, OfDamagedFilesAreFaultsOrModels) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (const char* whole : {kGpt2, kMistral7b, kOpt350m}) {
    for (int i = 0; i < 100; ++i) {
      std::string content = whole;
      const std::size_t place = random() % content.size();
      content[place] = static_cast<char>("0-.e\",:{}[]nx\xff"[random() % 15]);
      std::vector<Fault> faults;
      const auto model = read_hf_config(folder.write("f", content), 0, faults);
      ASSERT_EQ(model.has_value(), faults.empty()) << content;
      if (model.has_value()) {
        EXPECT_GT(parameters(model->spec), 0U) << content;
        EXPECT_EQ(model->spec.heads % model->spec.kv_heads, 0U) << content;
      }
    }
  }
}

}  // namespace
}  // namespace shardscope
