// GraphML files: nodes, edges and attributes as described_graph.h has it, by the attr.name of their
// keys. Devices are counted in document order.
#pragma once

#include <optional>

#include "sim/topology_files/described_graph.h"
#include "sim/topology_files/xml_file.h"

namespace shardscope {

/// The first <graph> of a file whose root is <graphml>. Edges may differ in `directed`. Faults:
/// nodes twice, edges to nodes that are not declared, data of keys that are not, two keys of one
/// name, graphs inside nodes, hyperedges, too much of anything.
std::optional<DescribedGraph> read_graphml(const XmlFile& file, std::string_view text,
                                           FaultList& faults, NameCounts& left_aside);

}  // namespace shardscope
