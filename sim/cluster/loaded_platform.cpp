#include "sim/cluster/loaded_platform.h"

#include <mutex>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>
#include <unordered_map>
#include <utility>

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

class LoadedPlatform final : public Platform {
 public:
  explicit LoadedPlatform(const Scenario& scenario) {
    s4u::Engine* engine = s4u::Engine::get_instance();
    engine->load_platform(scenario.cluster.platform->path);
    for (const std::size_t device : scenario.cluster.placement) {
      hosts_.push_back(s4u::Host::by_name(scenario.cluster.platform->hosts[device]));
    }
    for (s4u::Link* link : engine->get_all_links()) {
      add_link(*link, scenario.cluster.link_changes);
    }
  }

  const std::vector<PathLink>& links() const override { return links_; }

  Path path(int from, int to) const override { return between(*host(from), *host(to)); }

  // Zones may have latencies of their own, links may be fat pipes or fail.
  bool has_steady_links() const override { return false; }
  s4u::Host* device_host(const std::string& name) const override {
    return s4u::Host::by_name(name);
  }
  Path device_path(const std::string& from, const std::string& to) const override {
    return between(*device_host(from), *device_host(to));
  }

 private:
  void add_link(s4u::Link& link, const std::vector<LinkChange>& changes) {
    double latency_s = link.get_latency();
    for (const LinkChange& change : changes) {
      if (matches(link.get_name(), change.links)) {
        link.set_bandwidth(change.bandwidth_bytes_per_s.value_or(link.get_bandwidth()));
        latency_s = change.latency_s.value_or(latency_s);
      }
    }
    link.set_latency(0);
    index_.emplace(&link, links_.size());
    links_.push_back({link.get_name(), link.get_bandwidth()});
    latencies_s_.push_back(latency_s);
  }

  Path between(const s4u::Host& from, const s4u::Host& to) const {
    const std::lock_guard lock(mutex_);
    std::vector<s4u::Link*> route;
    double own_latency_s = 0;  // Of zones whose latency is no link's: SimGrid adds it itself.
    from.route_to(&to, route, &own_latency_s);
    Path path;
    for (const s4u::Link* link : route) {
      const std::size_t index = index_.at(link);
      path.links.push_back(index);
      path.latency_s += latencies_s_[index];
    }
    return path;
  }

  std::vector<PathLink> links_;
  std::vector<double> latencies_s_;
  std::unordered_map<const s4u::Link*, std::size_t> index_;
  mutable std::mutex mutex_;  // Of SimGrid's routes; never held across a simcall.
};

}  // namespace

std::unique_ptr<Platform> make_loaded_platform(const Scenario& scenario) {
  return std::make_unique<LoadedPlatform>(scenario);
}

}  // namespace shardscope
