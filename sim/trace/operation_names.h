// What recorded operations are called in traces, timelines and critical paths.
#pragma once

#include <string>

namespace shardscope {

class ComputeOperation;
class RankRecording;
class RecordedCollective;

/// "all_reduce layers.1-2", "all_reduce norm"; "prefetch layers.2" of a gather of layers that
/// follow the one which computes.
std::string collective_name(const RecordedCollective& collective);

/// A kernel is named like the code: "forward layers.1", "backward layers.1 input", "recompute
/// layers.1", "forward loss", "optimizer adam"; a wait after what is waited for: "wait all_gather
/// layers.2".
std::string operation_name(const RankRecording& step, const ComputeOperation& operation);

}  // namespace shardscope
