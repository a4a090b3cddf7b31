// SimGrid platforms, as far as they are needed before a simulation: to check them, to choose hosts
// and to tell what is in them. The simulation itself loads the file again, with SimGrid's loader.
//
// Each function runs SimGrid's loader in a child process: it can abort, and an engine starts once
// per process. What it says on standard error becomes faults. SimGrid's settings are those of the
// simulation; a platform's own <config> can set others of network, cpu, host, surf, maxmin,
// contexts, smpi and storage only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/text/fault.h"
#include "sim/topology_files/notes.h"

namespace shardscope {

struct SimgridHost {
  std::string name;
  std::vector<double> speeds_flop_per_s;  ///< By power state.
  std::size_t power_state = 0;            ///< The one at the start.
  std::size_t cores = 1;
  std::vector<std::pair<std::string, std::string>> properties;  ///< In the order of their names.
  bool speed_profile = false;
  bool state_profile = false;
};

/// split_duplex: one direction of a full-duplex link, "<id>_UP" or "<id>_DOWN".
enum class SimgridSharing { shared, fatpipe, split_duplex };

std::string name(SimgridSharing sharing);

struct SimgridLink {
  std::string name;
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  SimgridSharing sharing = SimgridSharing::shared;
  bool bandwidth_profile = false;
  bool latency_profile = false;
  bool state_profile = false;
};

struct SimgridPlatform {
  std::string path;
  std::vector<SimgridHost> hosts;  ///< In the natural order of names: "node-2", "node-10".
  std::vector<SimgridLink> links;  ///< The same; without SimGrid's own loopback.
  TopologyNotes notes;
};

/// Loads the platform. Nothing, and all faults, if the file is no platform, SimGrid cannot load it,
/// there is no host, there are WIFI links or settings that are not allowed, a link's bandwidth is
/// not positive and finite, its latency negative or not finite, or a host's speed not positive and
/// finite. Does not ask for routes.
std::optional<SimgridPlatform> describe_simgrid_platform(const std::string& path,
                                                         std::vector<Fault>& faults);

/// The hosts that patterns name, in their order; all if there are none. A pattern is a host's name,
/// or has numbers ("node-[0-7].example.org", "node-{0-3,5}", "[08-11]" with leading zeros) or * and
/// ?, whose hosts come in their natural order. Faults: a pattern that matches nothing (with the
/// nearest name), numbers that name a host that is not there, a host that is chosen twice.
std::vector<std::string> select_hosts(const SimgridPlatform& platform,
                                      const std::vector<std::string>& patterns,
                                      std::vector<Fault>& faults);

struct SimgridRoute {
  std::string from;
  std::string to;
  std::vector<std::string> links;
  double latency_s = 0;  ///< The sum over the links.
};

/// Routes are returned for at most this many hosts.
inline constexpr std::size_t kMostRoutedHosts = 64;

/// Asks SimGrid for the routes between the hosts, both ways: of all pairs up to 512 hosts, else of
/// each host to the next, and of the first one to and from each. Nothing and a fault that names the
/// first pair if some have none. Returns all routes of at most kMostRoutedHosts hosts, none of
/// more.
std::optional<std::vector<SimgridRoute>> platform_routes(const std::string& path,
                                                         const std::vector<std::string>& hosts,
                                                         std::vector<Fault>& faults);

}  // namespace shardscope
