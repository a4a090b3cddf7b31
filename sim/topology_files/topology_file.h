// Files that describe a cluster or one of its nodes, of the formats people have them in.
//
// What a file is, is told from its content, whatever its name. Nothing in a file is trusted: sizes
// are limited, nothing is fetched, no entity is expanded, and all that is wrong is a fault with its
// place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/text/fault.h"
#include "sim/topology/topology.h"
#include "sim/topology_files/nccl_node.h"
#include "sim/topology_files/notes.h"

namespace shardscope {

enum class FileKind {
  simgrid,  ///< A platform: XML, <platform>. Its network is SimGrid's own (simgrid_platform.h).
  nccl,     ///< A node: XML, <system> (nccl.h).
  graphml,  ///< XML, <graphml> (graphml.h, described_graph.h).
  dot,      ///< Graphviz (dot.h, described_graph.h).
};

/// "a SimGrid platform", ...
std::string name(FileKind kind);

struct TopologyFile {
  FileKind kind = FileKind::graphml;

  /// Of GraphML and DOT the cluster; of NCCL one node, "node0."; of SimGrid empty. Passes check().
  Topology topology;

  std::optional<NcclNode> nccl_node;  ///< Of NCCL, to be placed with add_nccl_nodes().
  TopologyNotes notes;
};

/// What the file is; nothing and a fault if it cannot be read or is none of these.
std::optional<FileKind> topology_file_kind(const std::string& path, std::vector<Fault>& faults);

/// Reads the file, of SimGrid its kind alone. Nothing, and all faults that were found, if anything
/// is wrong.
std::optional<TopologyFile> read_topology_file(const std::string& path, std::vector<Fault>& faults);

}  // namespace shardscope
