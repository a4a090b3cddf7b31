// What a report says beside the scenario and its results.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shardscope {

struct ReportContext {
  std::string version;  ///< Of the program.

  /// SimGrid's settings that change time, name and value, as they are set in code.
  std::vector<std::pair<std::string, std::string>> simgrid_settings;

  bool critical_path = false;  ///< Analyse the last step; the runs must have recorded it.
};

}  // namespace shardscope
