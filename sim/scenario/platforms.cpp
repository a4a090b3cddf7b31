#include "sim/scenario/platforms.h"

#include <utility>

#include "sim/scenario/catalogue_file.h"

namespace shardscope {
namespace {

template <typename Preset, typename Read>
std::vector<PlatformEntry<Preset>> read_entries(const std::filesystem::path& platforms,
                                                const std::string& folder,
                                                const std::optional<std::string>& only, Read read,
                                                std::vector<Fault>& faults) {
  std::vector<PlatformEntry<Preset>> entries;
  for (const std::string& name : preset_names(platforms, folder)) {
    if (only.has_value() && name != *only) continue;
    std::optional<Preset> preset = read(platforms, name, faults);
    if (!preset) continue;
    entries.push_back({name, preset_path(platforms, folder, name), std::move(*preset)});
  }
  return entries;
}

}  // namespace

std::vector<std::string> platform_names(const std::filesystem::path& platforms) {
  std::vector<std::string> all;
  for (const auto& names : {device_preset_names(platforms), node_preset_names(platforms),
                            fabric_preset_names(platforms)}) {
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

Platforms read_platforms(const std::filesystem::path& platforms,
                         const std::optional<std::string>& name, std::vector<Fault>& faults) {
  return {
      read_entries<DevicePreset>(platforms, kDeviceFolder, name, read_device_preset, faults),
      read_entries<NodePreset>(platforms, kNodeFolder, name, read_node_preset, faults),
      read_entries<FabricPreset>(platforms, kFabricFolder, name, read_fabric_preset, faults),
  };
}

}  // namespace shardscope
