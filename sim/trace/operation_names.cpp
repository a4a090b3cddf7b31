#include "sim/trace/operation_names.h"

#include "sim/result/result.pb.h"

namespace shardscope {

namespace {

/// Kernels of one layer. Others are of a bucket, or of all layers.
bool is_of_layer(const std::string& kernel) {
  return kernel == "linear" || kernel == "parameters" || kernel == "input" ||
         kernel == "recompute" || kernel == "accumulate";
}

}  // namespace

std::string collective_name(const RecordedCollective& collective) {
  const std::string& name = collective.name();
  return collective.prefetches() ? "prefetch" + name.substr(name.find(' ')) : name;
}

std::string operation_name(const RankRecording& step, const ComputeOperation& operation) {
  if (operation.kind() != ComputeOperation::KERNEL) {
    const std::string collective = collective_name(step.communication(operation.collective()));
    return (operation.kind() == ComputeOperation::WAIT ? "wait " : "enqueue ") + collective;
  }
  const std::string& kernel = operation.kernel();
  if (!is_of_layer(kernel) || !operation.has_layer()) {
    return operation.phase() + " " + kernel;
  }
  const std::string layer = " layers." + std::to_string(operation.layer());
  if (kernel == "recompute") {
    return kernel + layer;
  }
  return operation.phase() + layer + (kernel == "linear" ? "" : " " + kernel);
}

}  // namespace shardscope
