#include "sim/trace/operation_names.h"

#include "sim/result/result.pb.h"

namespace shardscope {

std::string operation_name(const RankRecording& step, const ComputeOperation& operation) {
  if (operation.kind() != ComputeOperation::KERNEL) {
    const std::string& collective = step.communication(operation.collective()).name();
    return (operation.kind() == ComputeOperation::WAIT ? "wait " : "enqueue ") + collective;
  }
  const std::string& kernel = operation.kernel();
  const bool of_layer = kernel == "linear" || kernel == "parameters" || kernel == "input";
  if (!of_layer) {
    return operation.phase() + " " + kernel;
  }
  const std::string layer = operation.phase() + " layers." + std::to_string(operation.layer());
  return kernel == "linear" ? layer : layer + " " + kernel;
}

}  // namespace shardscope
