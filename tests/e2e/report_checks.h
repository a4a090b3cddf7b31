// What every JSON report must say, whatever was run.
#pragma once

#include <json/json.h>

#include <string>
#include <vector>

namespace shardscope::testing {

/// Every field is there with its type; phases add up to the wall; what was sent is what was
/// received and what was predicted; states are the predicted ones.
void check_report(const Json::Value& report);

/// The most that a wall-clock time is off the sum of its parts, relative, over all runs.
double worst_sum_of_phases(const Json::Value& report);

/// The report's run of that strategy.
const Json::Value& run_of(const Json::Value& report, const char* strategy);

/// Without the members of these names, at any depth.
Json::Value without(Json::Value value, const std::vector<std::string>& names);

}  // namespace shardscope::testing
