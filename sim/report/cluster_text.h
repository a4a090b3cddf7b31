// A cluster in words.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace shardscope {

/// What it is made of: "star, one full-duplex link of 10 Gbps (1.25 GB/s) and 5 us per rank; ...".
std::string network_text(const Cluster& cluster);

/// Which rank is on which device; empty if rank r is on device r.
std::string placement_text(const Cluster& cluster);

/// What is slower, different or shared with others; empty if nothing is.
std::string unevenness_text(const Cluster& cluster);

}  // namespace shardscope
