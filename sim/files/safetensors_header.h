// The header of a safetensors file: text to checked entries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/files/safetensors.h"

namespace shardscope {

/// Longest header that is read, bytes: the limit of the reference implementation.
inline constexpr std::uint64_t kLongestSafetensorsHeader = 100'000'000;

/// The entries of `header`, in the order of their bytes, or none and at least one fault. The data
/// begin at `data_begin` in the file and are `data_bytes` long. `path` is for the faults.
std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& path,
                                                       const std::string& header,
                                                       std::uint64_t data_begin,
                                                       std::uint64_t data_bytes,
                                                       std::vector<std::string>& faults);

}  // namespace shardscope
