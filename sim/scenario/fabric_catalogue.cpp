#include "sim/scenario/fabric_catalogue.h"

#include "platforms/fabric.pb.h"
#include "sim/scenario/catalogue_file.h"
#include "sim/scenario/checks.h"
#include "sim/text/text_file.h"

namespace shardscope {
std::vector<std::string> fabric_preset_names(const std::filesystem::path& platforms) {
  return preset_names(platforms, kFabricFolder);
}

std::optional<FabricPreset> read_fabric_preset(const std::filesystem::path& platforms,
                                               const std::string& name,
                                               std::vector<Fault>& faults) {
  const std::string file = preset_path(platforms, kFabricFolder, name);
  std::optional<std::string> contents = read_text_file(file, faults);
  if (!contents) return std::nullopt;

  catalogue::Fabric message;
  MessageText text(file, std::move(*contents), {}, message);
  FabricPreset preset;
  preset.bandwidth_bytes_per_s =
      require_quantity(text, "bandwidth", Dimension::rate, Zero::refused).value_or(0);
  preset.latency_s = require_quantity(text, "latency", Dimension::time, Zero::allowed).value_or(0);
  if (!passes(text, faults)) return std::nullopt;
  return preset;
}

}  // namespace shardscope
