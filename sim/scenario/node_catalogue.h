// The catalogue of nodes: the files of PLATFORMS/nodes, in the schema platforms/node.proto.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/text/fault.h"
#include "sim/topology/nodes.h"

namespace shardscope {

struct NodePreset {
  std::string device;  ///< In the catalogue of devices.
  NodeSpec spec;       ///< One that add_nodes() takes.
  /// What one NIC can send: the bandwidth of its cable into the fabric, unless another is wanted. 0
  /// if there are no NICs.
  double nic_bandwidth_bytes_per_s = 0;
};

/// Names of the catalogue's nodes, sorted; none if the folder cannot be read.
std::vector<std::string> node_preset_names(const std::filesystem::path& platforms);

/// The node of that name, which must be in the catalogue; nothing and its faults if its file is
/// wrong. The file of its device is not read.
std::optional<NodePreset> read_node_preset(const std::filesystem::path& platforms,
                                           const std::string& name, std::vector<Fault>& faults);

}  // namespace shardscope
