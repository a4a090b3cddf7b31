#include "core/device/process_group.h"

#include <utility>

namespace shardscope {

ProcessGroup::ProcessGroup(Device& device, int rank, int world_size, Storage storage,
                           Algorithm algorithm)
    : device_(device),
      rank_(rank),
      world_size_(world_size),
      storage_(storage),
      algorithm_(algorithm) {}

std::unique_ptr<Work> ProcessGroup::all_reduce(ChunkedTensor data, OptionalLayers layers) {
  return start(Operation::all_reduce, std::move(data), layers);
}

std::unique_ptr<Work> ProcessGroup::reduce_scatter(ChunkedTensor data, OptionalLayers layers) {
  return start(Operation::reduce_scatter, std::move(data), layers);
}

std::unique_ptr<Work> ProcessGroup::all_gather(ChunkedTensor data, OptionalLayers layers) {
  return start(Operation::all_gather, std::move(data), layers);
}

std::unique_ptr<Work> ProcessGroup::broadcast(ChunkedTensor data, int root, OptionalLayers layers) {
  return start(Operation::broadcast, std::move(data), layers, root);
}

std::unique_ptr<Work> ProcessGroup::barrier() {
  return start(Operation::barrier, ChunkedTensor::none(), std::nullopt);
}

std::unique_ptr<Work> ProcessGroup::start(Operation operation, ChunkedTensor data,
                                          OptionalLayers layers, int root) {
  auto schedule = make_schedule(operation, algorithm_, world_size_, data.chunking(), root);
  return device_.enqueue(std::make_unique<Collective>(std::move(schedule), std::move(data), layers,
                                                      device_.memory(), storage_));
}

}  // namespace shardscope
