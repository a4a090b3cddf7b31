// Reads cluster.file: what people have that describes their cluster.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/scenario/cluster.h"
#include "sim/scenario/message_text.h"
#include "sim/topology_files/topology_file.h"

namespace shardscope {

/// What the file that cluster.file names is, `absolute` being its path. Faults, those in the file
/// among them, are reported to `text`; nothing then.
std::optional<TopologyFile> read_cluster_file(MessageText& text,
                                              const std::filesystem::path& absolute,
                                              Cluster& cluster);

/// Of a SimGrid platform: the hosts that cluster.hosts chooses become the cluster's devices, and
/// those that are slower than the fastest of them slower ranks.
void read_platform_hosts(MessageText& text, const std::filesystem::path& absolute, int world_size,
                         Cluster& cluster);

/// Of an NCCL topology: NVLinks that are not in the file, and latencies, which are in none, come
/// from the node preset that cluster.node names, else from a node of the catalogue with the same
/// device.
void complete_nccl_node(MessageText& text, const std::filesystem::path& platforms, NcclNode& node,
                        Cluster& cluster);

}  // namespace shardscope
