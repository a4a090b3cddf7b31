// The paths between the ranks of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/topology/routes.h"
#include "sim/topology/topology.h"

namespace shardscope {

/// What a message crosses.
struct Path {
  std::vector<std::size_t> links;  ///< Indices in ClusterPaths::links().
  double latency_s = 0;
};

/// One direction of a cable, or what is shared like one.
struct PathLink {
  std::string name;
  double bandwidth_bytes_per_s = 0;
};

class ClusterPaths {
 public:
  virtual ~ClusterPaths() = default;

  virtual const std::vector<PathLink>& links() const = 0;

  /// From a rank to another. Several threads may ask at once.
  virtual Path path(int from, int to) const = 0;
};

/// Of a topology and the device of each rank.
class GraphPaths final : public ClusterPaths {
 public:
  /// The topology must pass check().
  GraphPaths(Topology topology, std::vector<std::size_t> placement);

  const Topology& topology() const { return topology_; }
  const std::vector<PathLink>& links() const override { return links_; }
  Path path(int from, int to) const override {
    return between_devices(placement_[static_cast<std::size_t>(from)],
                           placement_[static_cast<std::size_t>(to)]);
  }

  /// The same between devices, by index. Paths are found once and kept, up to a million of them.
  Path between_devices(std::size_t from, std::size_t to) const;

 private:
  Topology topology_;
  std::vector<std::size_t> placement_;
  std::vector<PathLink> links_;
  mutable std::mutex mutex_;  // Of what follows.
  mutable Routes routes_;
  mutable std::unordered_map<std::uint64_t, Path> known_;  // By both devices.
};

}  // namespace shardscope
