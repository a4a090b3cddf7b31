// The simulated cluster as the ranks see it: a host each, and a path between any two.
//
// SimGrid's links carry no latency: its fair sharing is exact then, and the receiver waits the
// latency of the path after the last byte has left (messages.h). A transfer on an idle
// path takes the sum of its links' latencies + bytes / the least of their bandwidths; simultaneous
// ones share links max-min fairly.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/topology/paths.h"

namespace simgrid::s4u {
class Host;
}

namespace shardscope {

class Platform : public ClusterPaths {
 public:
  int world_size() const { return static_cast<int>(hosts_.size()); }

  /// Whether two ranks are on one node.
  bool share_node(int a, int b) const {
    return nodes_[static_cast<std::size_t>(a)] == nodes_[static_cast<std::size_t>(b)];
  }
  simgrid::s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  /// Whether all links are shared by what crosses them and stay as they are for the whole run: then
  /// an action of SimGrid may carry one transfer after another, or several alike at once.
  virtual bool has_steady_links() const = 0;

  /// The host of a device that cluster.background names, and what messages between two of them
  /// cross.
  virtual simgrid::s4u::Host* device_host(const std::string& name) const = 0;
  virtual Path device_path(const std::string& from, const std::string& to) const = 0;

 protected:
  std::vector<simgrid::s4u::Host*> hosts_;  // By rank.

 private:
  friend std::unique_ptr<Platform> make_platform(const Scenario& scenario);

  std::vector<int> nodes_;  // By rank.
};

/// Hosts of a platform that is built compute at this speed.
inline constexpr double kHostSpeed = 1e9;

/// A host's states: alone, and beside a collective (DeviceSpec::communication_slowdown).
enum HostState : unsigned long { kHostAlone = 0, kHostBesideCommunication = 1 };

/// The scenario's cluster, sealed. An Engine must exist.
std::unique_ptr<Platform> make_platform(const Scenario& scenario);

}  // namespace shardscope
