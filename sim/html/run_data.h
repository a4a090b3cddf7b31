// The data of a run's page.
#pragma once

#include <vector>

#include "sim/report/context.h"

namespace Json {
class Value;
}

namespace shardscope {

struct Scenario;
class RunResult;

/// As html_report takes it, without timelines. So that a long run makes no huge page, "run" has
/// less than the JSON report: of each rank one step, the mean of those after the first, and of more
/// than 10,000 steps as many that are evenly spread.
Json::Value run_data(const Scenario& scenario, const std::vector<RunResult>& runs,
                     const ReportContext& context);

}  // namespace shardscope
