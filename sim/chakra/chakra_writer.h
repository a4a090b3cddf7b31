// Recorded steps as Chakra execution traces (MLCommons), which ASTRA-sim simulates on a network of
// its own: "Chakra: Advancing Performance Benchmarking and Co-design using Standardized Execution
// Traces", arXiv 2305.14516.
//
// A node is a kernel (COMP) or a collective (COMM_COLL). Its dependencies give it the order it had
// on its stream and no time: a kernel follows the one before it and the collectives that were
// waited for in between; a collective follows the kernels before it was begun and the collective
// before it.
#pragma once

#include <string>

namespace shardscope {

class CommunicatorGroups;
class RankRecording;

/// What the first message of each file says beside rank and step.
struct ChakraAbout {
  std::string version;  ///< Of this program.
  std::string scenario;
  std::string strategy;
};

/// The content of a rank's file. Times are in microseconds since the step's begin; durations of
/// kernels are rounded such that their sum is that of the step's to half a microsecond. Kernels
/// have num_ops and tensor_size (flops and bytes, at least 1), collectives comm_type, comm_size
/// and, in a group, pg_name. comm_size is in bytes: of an all_gather the shard of a rank, which is
/// padded to the size of the others, of the other collectives the whole vector. A collective that
/// moves nothing has no node.
std::string chakra_trace(const RankRecording& step, const CommunicatorGroups& groups,
                         const ChakraAbout& about);

}  // namespace shardscope
