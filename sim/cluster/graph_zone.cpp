#include "sim/cluster/graph_zone.h"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u/Link.hpp>

namespace shardscope {

GraphZone::GraphZone(const std::string& name, RouteSource& routes)
    : NetZoneImpl(name), routes_(routes) {}

void GraphZone::add_link(const simgrid::s4u::Link& link) {
  links_.push_back(get_link_list_impl({simgrid::s4u::LinkInRoute(&link)}, false).front());
}

// Links have no latency of their own here.
void GraphZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                const simgrid::kernel::routing::NetPoint* to,
                                simgrid::kernel::routing::Route* into, double* /*latency*/) {
  for (const std::size_t link : routes_.links_between(from->id(), to->id())) {
    into->link_list_.push_back(links_[link]);
  }
}

}  // namespace shardscope
