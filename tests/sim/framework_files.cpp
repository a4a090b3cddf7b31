#include "tests/sim/framework_files.h"

#include "sim/scenario/reader.h"

namespace shardscope {

std::string scenario_faults(const FrameworkConfig& config) {
  const std::string source = SHARDSCOPE_SOURCE_DIR;
  std::vector<Override> overrides = config.overrides;
  overrides.push_back({.argument = "strategy", .assignment = "strategies=" + config.strategy});
  std::vector<Fault> faults;
  read_scenario(source + "/scenarios/starter.textproto", overrides, source + "/platforms", faults);
  std::string text;
  for (const Fault& fault : faults) text += format_fault(fault) + "\n";
  return text;
}

}  // namespace shardscope
