#include "sim/cluster/platform.h"

#include "sim/cluster/graph_platform.h"
#include "sim/cluster/loaded_platform.h"

namespace shardscope {

std::unique_ptr<Platform> make_platform(const Scenario& scenario) {
  return scenario.cluster.platform.has_value() ? make_loaded_platform(scenario)
                                               : make_graph_platform(scenario);
}

}  // namespace shardscope
