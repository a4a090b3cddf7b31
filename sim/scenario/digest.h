// Digests that name a scenario's content (core/data/digest.h says how).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/scenario/scenario.h"

namespace shardscope {

/// Of a file's bytes, 16 hexadecimal digits; nothing if it cannot be read.
std::optional<std::string> file_digest(const std::filesystem::path& path);

/// Of the resolved content: every field but the digest itself, in a fixed order. The device counts
/// by its figures, not by its preset's name; weights and data files by the digests of their bytes,
/// not by their paths, so that moving them changes nothing.
std::string scenario_digest(const Scenario& scenario, const std::string& weights_file_digest,
                            const std::string& data_file_digest);

}  // namespace shardscope
