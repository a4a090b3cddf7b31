// The manifest's fields as JSON, shared by its writer and its reader.
#pragma once

#include <string>

#include "sim/checkpoint/manifest.h"

namespace shardscope {

inline constexpr const char* kManifestFormat = "shardscope checkpoint";
inline constexpr int kManifestVersion = 1;

/// 16 hexadecimal digits: the digest of all else that the manifest says.
std::string manifest_digest(const CheckpointManifest& manifest);

}  // namespace shardscope
