// The valid name that a misspelt one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shardscope {

/// The name with the smallest edit distance to `text`, ignoring case (the first one on a tie), or
/// an empty string if all are farther than a third of the text's length, but at least 1.
std::string nearest_name(std::string_view text, std::span<const std::string> names);

}  // namespace shardscope
