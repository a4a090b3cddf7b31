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

/// The cluster of so many ranks. Faults are reported to `text`; with any, what is returned is of no
/// use.
ReadCluster read_cluster(MessageText& text, const std::filesystem::path& platforms, int world_size);

}  // namespace shardscope
