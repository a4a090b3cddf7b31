// The families of Hugging Face models that are read: what each key of theirs means for the shapes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/nn/transformer.h"
#include "sim/models/config_keys.h"

namespace shardscope {

/// Longer rows are refused.
inline constexpr std::size_t kMostTokens = std::size_t{1} << 24;

struct HfFamily {
  std::string_view model_type;
  /// Its class with a language model's head, as `architectures` names it.
  std::string_view architecture;
  /// All of the spec but `architecture`, with `sequence` the most tokens of a row.
  TransformerSpec (*read)(ConfigKeys& keys);
  /// The key that has the most tokens of a row, and its other name where it has one.
  std::string_view positions_key;
  std::string_view other_positions_key;
};

std::span<const HfFamily> hf_families();

/// Why models of another type are not read: "experts". Empty if nothing is known of it.
std::string_view missing_for(std::string_view model_type);

}  // namespace shardscope
