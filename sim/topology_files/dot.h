// Graphviz DOT files: nodes, edges and attributes as described_graph.h has it, defaults
// (`edge [bandwidth="..."]`) and edges between subgraphs included.
//
// Nodes are made by their first mention, in whatever place, so devices are counted in the natural
// order of their names: "gpu2" before "gpu10".
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "sim/topology_files/described_graph.h"
#include "sim/topology_files/limited_child.h"

namespace shardscope {

inline constexpr ChildLimits kDotLimits = {.memory_bytes = std::size_t{1} << 30,
                                           .time = std::chrono::seconds(60)};

/// Reads in a child process: a small file can make a parser run for ever. A syntax error is a fault
/// with its line; nodes and edges have none.
std::optional<DescribedGraph> read_dot(std::string_view text, FaultList& faults,
                                       NameCounts& left_aside,
                                       const ChildLimits& limits = kDotLimits);

}  // namespace shardscope
