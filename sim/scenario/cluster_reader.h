// Reads the topology of a scenario's cluster: nodes, fabric, link and placement.
#pragma once

#include <filesystem>
#include <string>

#include "sim/scenario/cluster.h"
#include "sim/scenario/message_text.h"

namespace shardscope {

struct ReadCluster {
  Cluster cluster;
  std::string node_device;  ///< The device preset that node.preset names; empty if none does.
};

/// Where files are.
struct ClusterFolders {
  std::filesystem::path platforms;  ///< The catalogue.
  std::filesystem::path file;       ///< That which cluster.file names; empty if it names none.
};

/// The cluster of so many ranks. Faults are reported to `text`; with any, what is returned is of no
/// use.
ReadCluster read_cluster(MessageText& text, const ClusterFolders& folders, int world_size);

}  // namespace shardscope
