// The files of the catalogue: PLATFORMS/<folder>/<name>.textproto.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/message_text.h"
#include "sim/text/fault.h"

namespace shardscope {

inline constexpr const char* kDeviceFolder = "devices";
inline constexpr const char* kNodeFolder = "nodes";
inline constexpr const char* kFabricFolder = "fabrics";

/// The file of that name.
std::string preset_path(const std::filesystem::path& platforms, const std::string& folder,
                        const std::string& name);

/// The names that a folder has files for, sorted; none if it cannot be read.
std::vector<std::string> preset_names(const std::filesystem::path& platforms,
                                      const std::string& folder);

/// Appends the faults of the file; whether there are none.
bool passes(const MessageText& text, std::vector<Fault>& faults);

}  // namespace shardscope
