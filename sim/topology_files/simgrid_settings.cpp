#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {

std::vector<std::pair<std::string, std::string>> simgrid_settings() {
  return {
      {"network/model", "CM02"},      // No correction factors for TCP on wide-area networks.
      {"network/crosstraffic", "0"},  // Full duplex: the way back costs nothing.
      {"network/TCP-gamma", "0"},     // No window limit of window / (2 latency).
      {"surf/precision", "1e-12"},    // Events closer than this end together.
  };
}

}  // namespace shardscope
