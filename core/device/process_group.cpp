#include "core/device/process_group.h"

#include <utility>

namespace shardscope {

ProcessGroup::ProcessGroup(Device& device, int rank, int world_size, Storage storage,
                           const CollectivePlanner& planner)
    : device_(device),
      rank_(rank),
      members_{.first = 0, .stride = 1, .size = world_size},
      storage_(storage),
      planner_(planner) {}

ProcessGroup ProcessGroup::subgroup(RankGroup members) const {
  ProcessGroup group = *this;
  group.members_ = {.first = members_.world_rank(members.first),
                    .stride = members_.stride * members.stride,
                    .size = members.size};
  group.rank_ = members.group_rank(rank_);
  return group;
}

std::unique_ptr<Work> ProcessGroup::all_reduce(ChunkedTensor data, Purpose purpose) {
  return start(Operation::all_reduce, std::move(data), std::nullopt, /*root=*/0, purpose);
}

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
                                          OptionalLayers layers, int root, Purpose purpose) {
  auto schedule = make_schedule(operation, planner_.plan(operation, members_, data.bytes()),
                                members_.size, data.chunking(), root);
  return device_.enqueue(std::make_unique<Collective>(std::move(schedule), std::move(data),
                                                      members_, rank_, purpose, layers,
                                                      device_.memory(), storage_));
}

}  // namespace shardscope
