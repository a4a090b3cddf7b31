// The pairs of a mesh as node files write them: "0-3", "0-3 x2".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology/nodes.h"

namespace shardscope {

/// Two devices of so many and their links, 1 to 256; nothing if the text is no such pair.
std::optional<NvlinkPair> parse_nvlink_pair(std::string_view text, std::size_t devices);

/// What parse_nvlink_pair() takes, with an example.
std::string describe_nvlink_pair(std::size_t devices);

/// "0-3", "0-3 x2".
std::string format_nvlink_pair(const NvlinkPair& pair);

/// Whether one of the pairs has the same two devices, in either order.
bool holds_pair(const std::vector<NvlinkPair>& pairs, const NvlinkPair& pair);

}  // namespace shardscope
