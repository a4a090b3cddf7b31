// The catalogue of fabrics, the kinds of network between nodes: the files of PLATFORMS/fabrics, in
// the schema platforms/fabric.proto.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/text/fault.h"

namespace shardscope {

/// One cable of it, in one direction.
struct FabricPreset {
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;  ///< Half of the time from NIC to NIC through one switch.
};

/// Names of the catalogue's fabrics, sorted; none if the folder cannot be read.
std::vector<std::string> fabric_preset_names(const std::filesystem::path& platforms);

/// The fabric of that name, which must be in the catalogue; nothing and its faults if its file is
/// wrong.
std::optional<FabricPreset> read_fabric_preset(const std::filesystem::path& platforms,
                                               const std::string& name, std::vector<Fault>& faults);

}  // namespace shardscope
