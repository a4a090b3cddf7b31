#include "sim/topology_files/platform_facts.h"

#include <map>
#include <utility>

#include "sim/topology/paths.h"
#include "sim/topology_files/simgrid_platform.h"

namespace shardscope {
namespace {

// The routes that SimGrid gave.
class GivenPaths final : public ClusterPaths {
 public:
  GivenPaths(const SimgridPlatform& platform, const std::vector<std::string>& hosts,
             const std::vector<SimgridRoute>& routes)
      : hosts_(hosts) {
    for (const SimgridLink& link : platform.links) {
      index_.emplace(link.name, links_.size());
      links_.push_back({link.name, link.bandwidth_bytes_per_s});
    }
    for (const SimgridRoute& route : routes) {
      Path& path = paths_[{route.from, route.to}];
      path.latency_s = route.latency_s;
      for (const std::string& link : route.links) {
        path.links.push_back(index_.at(link));
      }
    }
  }

  const std::vector<PathLink>& links() const override { return links_; }
  Path path(int from, int to) const override {
    return paths_.at(
        {hosts_[static_cast<std::size_t>(from)], hosts_[static_cast<std::size_t>(to)]});
  }

 private:
  const std::vector<std::string>& hosts_;
  std::vector<PathLink> links_;
  std::map<std::string, std::size_t> index_;
  std::map<std::pair<std::string, std::string>, Path> paths_;
};

}  // namespace

std::optional<TopologyFacts> platform_facts(const std::string& path,
                                            const std::vector<std::string>& hosts,
                                            std::vector<Fault>& faults) {
  const auto platform = describe_simgrid_platform(path, faults);
  const auto routes = platform.has_value() ? platform_routes(path, hosts, faults) : std::nullopt;
  if (!routes.has_value()) {
    return std::nullopt;
  }
  TopologyFacts facts;
  facts.device_of_rank = hosts;
  facts.nodes["host"] = platform->hosts.size();
  for (const SimgridLink& link : platform->links) {
    ++facts.links[name(link.sharing)];
  }
  if (!routes->empty()) {
    const GivenPaths paths(*platform, hosts, *routes);
    facts.path_links = paths.links();
    facts.ring = ring_routes(paths, hosts.size());
  }
  return facts;
}

}  // namespace shardscope
