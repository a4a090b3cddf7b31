#include "sim/cluster/graph_platform.h"

#include <algorithm>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/cluster/graph_zone.h"
#include "sim/cluster/profile.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

class GraphPlatform final : public Platform, private RouteSource {
 public:
  explicit GraphPlatform(const Scenario& scenario)
      : paths_(topology_of(scenario.cluster), scenario.cluster.placement),
        has_steady_links_(std::all_of(scenario.cluster.link_changes.begin(),
                                      scenario.cluster.link_changes.end(),
                                      [](const auto& change) { return change.changes.empty(); })) {
    auto* zone = new GraphZone("cluster", *this);  // SimGrid's engine deletes it.
    add_hosts(*zone, scenario);
    add_links(*zone, scenario.cluster.link_changes);
    zone->seal();
  }

  const std::vector<PathLink>& links() const override { return paths_.links(); }
  Path path(int from, int to) const override { return paths_.path(from, to); }

  bool has_steady_links() const override { return has_steady_links_; }
  s4u::Host* device_host(const std::string& name) const override {
    return device_hosts_[device_names_.at(name)];
  }
  Path device_path(const std::string& from, const std::string& to) const override {
    return paths_.between_devices(device_names_.at(from), device_names_.at(to));
  }

 private:
  void add_hosts(GraphZone& zone, const Scenario& scenario) {
    const Topology& topology = paths_.topology();
    const double slowed = kHostSpeed / scenario.device.communication_slowdown;
    for (const NodeId id : topology.devices()) {
      const std::string& name = topology.node(id).name;
      device_names_.emplace(name, device_hosts_.size());
      device_hosts_.push_back(zone.create_host(name, {kHostSpeed, slowed}));
    }
    for (const std::size_t device : scenario.cluster.placement) {
      const std::size_t rank = hosts_.size();
      hosts_.push_back(device_hosts_[device]);
      if (!scenario.cluster.rank_speeds.empty()) {
        set_profile(*hosts_.back(), scenario.cluster.rank_speeds[rank]);
      }
    }
    for (s4u::Host* host : device_hosts_) {
      host->seal();
    }
  }

  void add_links(GraphZone& zone, const std::vector<LinkChange>& changes) {
    std::vector<s4u::Link*> links;
    for (const PathLink& link : paths_.links()) {
      links.push_back(zone.create_link(link.name, {link.bandwidth_bytes_per_s}));
    }
    for (const LinkChange& change : changes) {
      for (const LinkId id : matching_links(paths_.topology(), change.links)) {
        set_profile(*links[id], change.changes);
      }
    }
    for (s4u::Link* link : links) {
      link->seal();
      zone.add_link(*link);
    }
  }

  std::vector<std::size_t> links_between(std::size_t from, std::size_t to) override {
    return paths_.between_devices(from, to).links;
  }

  GraphPaths paths_;
  bool has_steady_links_;
  std::vector<s4u::Host*> device_hosts_;
  std::unordered_map<std::string, std::size_t> device_names_;
};

}  // namespace

std::unique_ptr<Platform> make_graph_platform(const Scenario& scenario) {
  return std::make_unique<GraphPlatform>(scenario);
}

}  // namespace shardscope
