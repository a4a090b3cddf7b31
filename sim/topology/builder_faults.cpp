#include "sim/topology/builder_faults.h"

#include <cstdio>

namespace shardscope {

void BuilderFaults::require(bool holds, const std::string& need, const std::string& has) {
  if (!holds) {
    faults_.push_back(what_ + " needs " + need + ", has " + has);
  }
}

void BuilderFaults::require_at_least(std::size_t least, std::string_view things, std::size_t has) {
  require(has >= least, "at least " + std::to_string(least) + " " + std::string(things),
          std::to_string(has));
}

void BuilderFaults::require_cable(std::string_view cable_name, const CableSpec& cable) {
  for (const std::string& fault : cable_faults(cable)) {
    faults_.push_back("the " + std::string(cable_name) + " of " + what_ + " " + fault);
  }
}

void BuilderFaults::require_few_cables(double cables) {
  char count[32];
  std::snprintf(count, sizeof count, "%.6g", cables);
  require(cables <= static_cast<double>(kMostCables),
          "at most " + std::to_string(kMostCables) + " cables", count);
}

}  // namespace shardscope
