// What a topology that passes check() can do: of a route, of all routes, of a set of flows.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/topology/routes.h"
#include "sim/topology/topology.h"

namespace shardscope {

/// The sum over the route's links.
double path_latency_s(const Topology& topology, const Route& route);

/// The link with the least bandwidth, the first one on a tie. None if the route is empty.
std::optional<LinkId> bottleneck(const Topology& topology, const Route& route);

/// The most links that a route between two devices has; 0 for a single device. Time and memory grow
/// with devices x nodes.
std::size_t diameter(const Topology& topology, Routes& routes);

/// The most that the first half of the devices can send to the second half, or the second to the
/// first if that is less: the maximum flow between them with every link at its bandwidth, in
/// bytes/s, one direction at a time. Halves are contiguous in the order of devices, the first one
/// smaller if they are odd in number. Routes may use less of it than there is. 0 for a single
/// device.
double bisection_bytes_per_s(const Topology& topology);

struct Flow {
  std::size_t source = 0;  ///< Device indices.
  std::size_t destination = 0;
  double bytes = 1;
};

/// By link, the bytes that cross it.
std::vector<double> link_loads(const Topology& topology, Routes& routes,
                               const std::vector<Flow>& flows);

}  // namespace shardscope
