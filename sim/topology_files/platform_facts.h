// What is known of a SimGrid platform before it is simulated: its parts and the ring's routes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/text/fault.h"
#include "sim/topology/facts.h"

namespace shardscope {

/// Of the hosts of the ranks, by rank. Routes of the ring are there for at most kMostRoutedHosts
/// hosts. Nothing, and faults, if the platform cannot be loaded.
std::optional<TopologyFacts> platform_facts(const std::string& path,
                                            const std::vector<std::string>& hosts,
                                            std::vector<Fault>& faults);

}  // namespace shardscope
