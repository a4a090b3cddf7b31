#include "sim/cluster/platform.h"

#include "sim/cluster/graph_platform.h"

namespace shardscope {

std::unique_ptr<Platform> make_platform(const Scenario& scenario) {
  return make_graph_platform(scenario);
}

}  // namespace shardscope
