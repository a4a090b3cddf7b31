// Reading a file of text whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/fault.h"

namespace shardscope {

/// Larger files are refused.
inline constexpr std::size_t kLargestTextFile = std::size_t{1} << 20;

/// The file's text, or nothing and a fault if it is missing, a directory, unreadable, too large or
/// not text. Pipes can be read as well.
std::optional<std::string> read_text_file(const std::string& path, std::vector<Fault>& faults);

/// Where a text stops being UTF-8 without control characters (tabs and line ends are allowed), as
/// an offset in bytes; nothing if it is text throughout.
std::optional<std::size_t> find_non_text(std::string_view text);

}  // namespace shardscope
