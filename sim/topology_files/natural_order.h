// Names in the order people count in.
#pragma once

#include <string_view>

namespace shardscope {

/// Runs of digits are compared as numbers, of any length: "node-2" is before "node-10". Of names
/// that differ in leading zeros alone, the one that is less as text is first.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace shardscope
