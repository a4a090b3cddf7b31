// The config.json of a Hugging Face model, to the shapes of a transformer.
//
// Read are the families llama, mistral, qwen2, gpt2, gpt_neox and opt (`model_type`), as their
// causal language models. A key that is absent has the default of the family's configuration class
// in transformers (LlamaConfig and so on; `tie_word_embeddings` of gpt2 and opt has that of
// PretrainedConfig, true). Keys without effect on shapes are passed over.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/transformer.h"
#include "sim/text/fault.h"

namespace shardscope {

struct HfModel {
  TransformerSpec spec;
  /// What a report should say: sizes that are defaults, and what is not modelled but leaves the
  /// parameters as they are: "sliding_window 4096 is not modelled: ...".
  std::vector<std::string> notes;
};

/// `sequence` is the tokens of a row, 0 for the longest that the model is made for
/// (max_position_embeddings, n_positions). Faults, all of the file's at once, have the lines of
/// their keys; they are for unreadable files, values that are wrong by themselves or together,
/// other families, misspelt keys, keys that change the parameters in ways that are not modelled,
/// and rows longer than a learned position table.
std::optional<HfModel> read_hf_config(const std::filesystem::path& path, std::size_t sequence,
                                      std::vector<Fault>& faults);

}  // namespace shardscope
