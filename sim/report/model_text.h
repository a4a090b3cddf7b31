// The scenario's model in words.
#pragma once

#include <string>

#include "core/nn/model.h"

namespace shardscope {

/// "Layers 128-512-512-128", "Transformer llama, 32 blocks of 4096, ...". Where a line may be
/// broken inside a word there is `soft_break`.
std::string model_text(const ModelSpec& model, const std::string& soft_break);

}  // namespace shardscope
