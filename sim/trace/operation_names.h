// What recorded operations are called in traces, timelines and critical paths.
#pragma once

#include <string>

namespace shardscope {

class ComputeOperation;
class RankRecording;

/// A kernel is named like the code: "forward layers.1", "backward layers.1 input", "forward loss",
/// "optimizer adam"; a wait after what is waited for: "wait all_gather layers.2".
std::string operation_name(const RankRecording& step, const ComputeOperation& operation);

}  // namespace shardscope
