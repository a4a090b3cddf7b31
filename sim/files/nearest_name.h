// The valid name that a misspelt one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// The candidate with the smallest edit distance (case counts a quarter), the first on a tie;
/// nothing if even that one differs in more than a third of its letters.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates);

}  // namespace shardscope
