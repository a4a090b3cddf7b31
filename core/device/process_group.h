// The collectives of torch.distributed for one rank: each asks the planner how, makes a
// schedule, reserves staging and goes onto the device's communication stream.
#pragma once

#include <memory>
#include <optional>

#include "core/collectives/planner.h"
#include "core/device/device.h"

namespace shardscope {

class ProcessGroup {
 public:
  using OptionalLayers = std::optional<LayerRange>;

  /// All ranks. The device and the planner must outlive the group.
  ProcessGroup(Device& device, int rank, int world_size, Storage storage,
               const CollectivePlanner& planner = ring_planner());

  /// A part of this group's ranks, this one among them, with the same planner.
  ProcessGroup subgroup(RankGroup members) const;

  /// Of this rank in the group, and the group's size.
  int rank() const { return rank_; }
  int world_size() const { return members_.size; }
  Device& device() const { return device_; }
  Storage storage() const { return storage_; }

  /// Each works in place on data cut into world_size() chunks, which must stay valid until the Work
  /// was waited for. all_reduce: every chunk becomes its sum over ranks. reduce_scatter: chunk
  /// rank() becomes its sum, the others hold partial sums. all_gather: every chunk c becomes rank
  /// c's. broadcast: every chunk becomes the root's. `layers` says whose data it is, for reports.
  /// An all_reduce of a norm or an overflow flag says so by its purpose instead.
  /// Throw OutOfMemory if staging does not fit.
  std::unique_ptr<Work> all_reduce(ChunkedTensor data, OptionalLayers layers = std::nullopt);
  std::unique_ptr<Work> all_reduce(ChunkedTensor data, Purpose purpose);
  std::unique_ptr<Work> reduce_scatter(ChunkedTensor data, OptionalLayers layers = std::nullopt);
  std::unique_ptr<Work> all_gather(ChunkedTensor data, OptionalLayers layers = std::nullopt);
  std::unique_ptr<Work> broadcast(ChunkedTensor data, int root,
                                  OptionalLayers layers = std::nullopt);
  std::unique_ptr<Work> barrier();

 private:
  std::unique_ptr<Work> start(Operation operation, ChunkedTensor data, OptionalLayers layers,
                              int root = 0, Purpose purpose = Purpose::data);

  Device& device_;
  int rank_;
  RankGroup members_;
  Storage storage_;
  const CollectivePlanner& planner_;
};

}  // namespace shardscope
