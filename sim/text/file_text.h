// Topology files as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/fault_list.h"

namespace shardscope {

/// Larger files are refused.
inline constexpr std::size_t kLargestTopologyFile = std::size_t{64} << 20;

/// The file's text, which is UTF-8 without control characters; a byte-order mark is taken off. A
/// fault for what is no regular file (a pipe cannot be read twice), cannot be read, is too large or
/// empty, or is no such text.
std::optional<std::string> read_topology_text(const std::string& path, FaultList& faults);

/// Lines of a text, found by offset.
class LineIndex {
 public:
  struct Place {
    std::size_t line = 0;  ///< From 1.
    std::size_t column = 0;
  };

  explicit LineIndex(std::string_view text);
  Place place(std::size_t offset) const;

 private:
  std::vector<std::size_t> starts_;
};

}  // namespace shardscope
