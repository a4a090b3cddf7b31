// A SimGrid zone whose routes are those of a topology, found when they are asked for: no table of
// routes, however many hosts there are, and no zones of SimGrid that a topology would have to fit.
#pragma once

#include <cstddef>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <vector>

namespace simgrid::s4u {
class Link;
}

namespace shardscope {

/// Where routes come from.
class RouteSource {
 public:
  virtual ~RouteSource() = default;

  /// Links in their order, by the index they were added with, from a device to another. Called by
  /// SimGrid alone.
  virtual std::vector<std::size_t> links_between(std::size_t from, std::size_t to) = 0;
};

/// SimGrid owns its zones: make one with new, as its own functions do. Only hosts may be made in
/// it, in the order of devices.
class GraphZone final : public simgrid::kernel::routing::NetZoneImpl {
 public:
  /// The routes must outlive the simulation.
  GraphZone(const std::string& name, RouteSource& routes);

  /// Link i is added at the ith call.
  void add_link(const simgrid::s4u::Link& link);

 private:
  void get_local_route(const simgrid::kernel::routing::NetPoint* from,
                       const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  RouteSource& routes_;
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
};

}  // namespace shardscope
