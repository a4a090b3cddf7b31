// What a reader understood of a file and what it left aside, in words for a report.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

struct TopologyNotes {
  std::vector<std::string> understood;  ///< "8 devices", "bandwidth: 12 cables"
  std::vector<std::string> left_aside;  ///< `attribute "color" of nodes (8)`
};

/// Names that have no meaning here, counted.
class NameCounts {
 public:
  /// `what` is in words, and says of what: "attribute", "color", "nodes".
  void add(std::string_view what, std::string_view name, std::string_view of);
  void add(const std::string& text, std::size_t count) { counts_[text] += count; }

  const std::map<std::string, std::size_t>& counts() const { return counts_; }

  /// One line for each name, of very many the first ones.
  void append_to(std::vector<std::string>& lines) const;

 private:
  std::map<std::string, std::size_t> counts_;
};

/// "1 device", "8 devices".
std::string counted(std::size_t count, std::string_view thing);

/// "switch" -> "switches".
std::string plural(std::string_view thing);

}  // namespace shardscope
