// Graphviz DOT files: nodes, edges and attributes as described_graph.h has it, defaults
// (`edge [bandwidth="..."]`) and edges between subgraphs included.
//
// Nodes are made by their first mention, in whatever place, so devices are counted in the natural
// order of their names: "gpu2" before "gpu10".
#pragma once

#include <optional>
#include <string_view>

#include "sim/topology_files/described_graph.h"

namespace shardscope {

/// Reads in a child process: a small file can make a parser run for ever. A syntax error is a fault
/// with its line; nodes and edges have none.
std::optional<DescribedGraph> read_dot(std::string_view text, FaultList& faults,
                                       NameCounts& left_aside);

}  // namespace shardscope
