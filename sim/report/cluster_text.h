// A cluster in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/report/page.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// What it is made of: "star, one full-duplex link of 10 Gbps (1.25 GB/s) and 5 us per rank; ...".
std::string network_text(const Cluster& cluster);

/// "ring collectives", "ring collectives of 4 channels".
std::string collectives_text(const CollectiveSpec& collective);

/// What was understood of the cluster's file, and what was left aside; nothing without one.
void write_file(const Cluster& cluster, Page& page);

/// SimGrid's settings: "network/model:CM02, surf/precision:1e-12".
std::string simgrid_text(const std::vector<std::pair<std::string, std::string>>& settings);

/// Which rank is on which device; empty if rank r is on device r.
std::string placement_text(const Cluster& cluster);

/// What is slower, different or shared with others; empty if nothing is.
std::string unevenness_text(const Cluster& cluster);

}  // namespace shardscope
