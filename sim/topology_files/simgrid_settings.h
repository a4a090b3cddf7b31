// SimGrid's settings.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shardscope {

/// Every SimGrid setting that changes simulated time, as name and value.
std::vector<std::pair<std::string, std::string>> simgrid_settings();

}  // namespace shardscope
