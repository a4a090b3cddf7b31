#include "sim/cluster/graph_platform.h"

#include <mutex>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/cluster/graph_zone.h"
#include "sim/cluster/profile.h"
#include "sim/topology/analysis.h"
#include "sim/topology/routes.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

class GraphPlatform final : public Platform, private RouteSource {
 public:
  explicit GraphPlatform(const Scenario& scenario)
      : topology_(topology_of(scenario.cluster)),
        routes_(topology_),
        placement_(scenario.cluster.placement) {
    auto* zone = new GraphZone("cluster", *this);  // SimGrid's engine deletes it.
    add_hosts(*zone, scenario);
    add_links(*zone, scenario.cluster.link_changes);
    zone->seal();
  }

  Path path(int from, int to) const override {
    return path_between(placement_[static_cast<std::size_t>(from)],
                        placement_[static_cast<std::size_t>(to)]);
  }

  s4u::Host* device_host(const std::string& name) const override {
    return device_hosts_[device_names_.at(name)];
  }

  Path device_path(const std::string& from, const std::string& to) const override {
    return path_between(device_names_.at(from), device_names_.at(to));
  }

 private:
  void add_hosts(GraphZone& zone, const Scenario& scenario) {
    const double slowed = kHostSpeed / scenario.device.communication_slowdown;
    for (const NodeId id : topology_.devices()) {
      const std::string& name = topology_.node(id).name;
      device_names_.emplace(name, device_hosts_.size());
      device_hosts_.push_back(zone.create_host(name, {kHostSpeed, slowed}));
    }
    for (std::size_t rank = 0; rank < placement_.size(); ++rank) {
      hosts_.push_back(device_hosts_[placement_[rank]]);
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
    for (const Link& link : topology_.links()) {
      const double bandwidth = link.cable.bandwidth_bytes_per_s;
      links.push_back(zone.create_link(link.name, {bandwidth}));
      links_.push_back({link.name, bandwidth});
    }
    for (const LinkChange& change : changes) {
      for (const LinkId id : matching_links(topology_, change.links)) {
        set_profile(*links[id], change.changes);
      }
    }
    for (s4u::Link* link : links) {
      link->seal();
      zone.add_link(*link);
    }
  }

  Path path_between(std::size_t from, std::size_t to) const {
    const std::lock_guard lock(mutex_);
    Route route = routes_.route(from, to);
    const double latency_s = path_latency_s(topology_, route);
    return {std::move(route), latency_s};
  }

  std::vector<std::size_t> links_between(std::size_t from, std::size_t to) override {
    const std::lock_guard lock(mutex_);
    return routes_.route(from, to);
  }

  Topology topology_;
  mutable std::mutex mutex_;  // Of routes_; never held across a simcall.
  mutable Routes routes_;
  std::vector<std::size_t> placement_;
  std::vector<s4u::Host*> device_hosts_;
  std::unordered_map<std::string, std::size_t> device_names_;
};

}  // namespace

std::unique_ptr<Platform> make_graph_platform(const Scenario& scenario) {
  return std::make_unique<GraphPlatform>(scenario);
}

}  // namespace shardscope
