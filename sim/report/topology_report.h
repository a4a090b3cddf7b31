// What `shardscope topology` shows of a cluster.
#pragma once

#include <cstddef>
#include <string>

#include "sim/scenario/scenario.h"
#include "sim/topology/facts.h"
#include "sim/topology/topology.h"

namespace shardscope {

/// Text for a terminal of that many columns.
std::string topology_text(const Scenario& scenario, const TopologyFacts& facts, bool colour,
                          std::size_t width);

/// The same facts, and every link, as JSON; the topology of a SimGrid platform is null.
std::string topology_json(const Scenario& scenario, const Topology* topology,
                          const TopologyFacts& facts, const std::string& version);

/// The graph in Graphviz's language: a file that cluster.file takes.
std::string topology_dot(const Topology& topology);

}  // namespace shardscope
