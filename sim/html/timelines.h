// The timelines of a run's page, from what the ranks recorded of their last step.
#pragma once

#include <vector>

namespace Json {
class Value;
}

namespace shardscope {

class RunResult;

/// As html_report.h describes "timelines": kernels of the compute stream and collectives of the
/// communication stream, times since the step began. Of many ranks the first ones.
Json::Value timelines_value(const std::vector<RunResult>& runs);

}  // namespace shardscope
