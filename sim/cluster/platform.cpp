#include "sim/cluster/platform.h"

#include "sim/cluster/graph_platform.h"
#include "sim/cluster/loaded_platform.h"

namespace shardscope {

std::unique_ptr<Platform> make_platform(const Scenario& scenario) {
  std::unique_ptr<Platform> platform = scenario.cluster.platform.has_value()
                                           ? make_loaded_platform(scenario)
                                           : make_graph_platform(scenario);
  for (int rank = 0; rank < platform->world_size(); ++rank) {
    platform->nodes_.push_back(node_of(scenario.cluster, rank));
  }
  return platform;
}

}  // namespace shardscope
