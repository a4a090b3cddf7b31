// The whole catalogue: devices, nodes and fabrics.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/catalogue.h"
#include "sim/scenario/fabric_catalogue.h"
#include "sim/scenario/node_catalogue.h"
#include "sim/text/fault.h"

namespace shardscope {

template <typename Preset>
struct PlatformEntry {
  std::string name;
  std::string file;  ///< Its path.
  Preset preset;
};

/// Each list in the order of the names.
struct Platforms {
  std::vector<PlatformEntry<DevicePreset>> devices;
  std::vector<PlatformEntry<NodePreset>> nodes;
  std::vector<PlatformEntry<FabricPreset>> fabrics;
};

/// Of all entries: devices, nodes, fabrics.
std::vector<std::string> platform_names(const std::filesystem::path& platforms);

/// All entries, or those of one name. Files that are wrong are left out, and their faults appended.
Platforms read_platforms(const std::filesystem::path& platforms,
                         const std::optional<std::string>& name, std::vector<Fault>& faults);

}  // namespace shardscope
