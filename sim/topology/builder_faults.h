// What builders of topologies refuse, gathered: "a star needs at least 1 endpoint, has 0".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/topology/parts.h"

namespace shardscope {

/// Of one call of a builder.
inline constexpr std::size_t kMostCables = 500'000;

class BuilderFaults {
 public:
  /// What is built, in words: "a star".
  explicit BuilderFaults(std::string_view what) : what_(what) {}

  void require(bool holds, const std::string& need, const std::string& has);
  void require_at_least(std::size_t least, std::string_view things, std::size_t has);
  void require_cable(std::string_view cable_name, const CableSpec& cable);

  /// A product of sizes as a double does not wrap around.
  void require_few_cables(double cables);

  bool empty() const { return faults_.empty(); }
  std::vector<std::string> take() { return std::move(faults_); }

 private:
  std::string what_;
  std::vector<std::string> faults_;
};

}  // namespace shardscope
