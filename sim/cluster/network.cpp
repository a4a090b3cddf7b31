#include "sim/cluster/network.h"

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

namespace shardscope {

std::vector<std::pair<std::string, std::string>> simgrid_settings() {
  return {
      {"network/model", "CM02"},      // No correction factors for TCP on wide-area networks.
      {"network/crosstraffic", "0"},  // Full duplex: the way back costs nothing.
      {"network/TCP-gamma", "0"},     // No window limit of window / (2 latency).
      {"surf/precision", "1e-12"},    // Events closer than this end together.
  };
}

Platform make_star(int world_size, const LinkSpec& link, double communication_slowdown) {
  namespace s4u = simgrid::s4u;
  s4u::NetZone* zone = s4u::create_star_zone("cluster");
  Platform platform{.hosts = {},
                    .path_latency_s = 2 * link.latency_s,
                    .bandwidth_bytes_per_s = link.bandwidth_bytes_per_s};
  for (int rank = 0; rank < world_size; ++rank) {
    const std::string number = std::to_string(rank);
    s4u::Host* host = zone->create_host(
        "rank" + number, std::vector<double>{kHostSpeed, kHostSpeed / communication_slowdown});
    const auto* wire =
        zone->create_split_duplex_link("link" + number, link.bandwidth_bytes_per_s)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{wire, s4u::LinkInRoute::Direction::UP}}, true);
    platform.hosts.push_back(host);
  }
  zone->seal();
  return platform;
}

}  // namespace shardscope
