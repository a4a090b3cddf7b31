// The simulated network: SimGrid's settings and the platform made from a scenario.
//
// A star. Every rank has one full-duplex link to a central switch that never is a bottleneck; a
// route crosses two links, one up and one down.
//
//     rank 0 ====\        /==== rank 2
//                 (switch)
//     rank 1 ====/        \==== rank 3
//
// SimGrid's links carry no latency: its fair sharing is exact then, and the receiver waits the
// latency of the path after the last byte has left (transport.h). A transfer on an idle path takes
// latency + bytes / bandwidth.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.h"

namespace simgrid::s4u {
class Host;
}

namespace shardscope {

/// Every SimGrid setting that changes simulated time, as name and value.
std::vector<std::pair<std::string, std::string>> simgrid_settings();

/// SimGrid's view of the cluster: the rank's host at its index.
struct Platform {
  std::vector<simgrid::s4u::Host*> hosts;
  double path_latency_s = 0;  ///< Between any two ranks.
  double bandwidth_bytes_per_s = 0;
};

/// Hosts compute at this speed; kernels are given in seconds of it.
inline constexpr double kHostSpeed = 1e9;

/// A host's states: alone, and beside a collective (DeviceSpec::communication_slowdown).
enum HostState : unsigned long { kHostAlone = 0, kHostBesideCommunication = 1 };

/// Builds and seals the platform. An Engine must exist.
Platform make_star(int world_size, const LinkSpec& link, double communication_slowdown);

}  // namespace shardscope
