// The parameters of one rank, held whole or as shards: gathered for use by a plan, published after
// an update.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/device/process_group.h"
#include "core/tensor/buffer.h"
#include "core/training/gather_plan.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

class ParameterStore {
 public:
  /// Reads the parameters from `begin` on, in torch order, rounded to the tensor's type.
  using Reader = std::function<void(std::size_t begin, Tensor out)>;

  /// Allocates (throws OutOfMemory) and fills from the reader. `group` is the shard group.
  /// References must outlive the store.
  ParameterStore(const Strategy& strategy, const ShardGeometry& geometry, DType precision,
                 std::vector<LayerUse> uses, ProcessGroup& group, const Reader& read);

  /// The uses of a micro-step come in their order.
  void begin_micro_step();

  /// The tensors of the next use's layer; all_gathers if they are sharded. Valid until its release.
  std::vector<Tensor> acquire();
  void release();

  /// What the optimizer updates: the rank's owned elements, a tensor per unit, padding included.
  std::vector<Tensor> owned() const;

  /// All that the rank holds between uses, in the full or the shard layout.
  Tensor held() const { return held_.tensor(); }

  /// An optimizer step is over, published or not.
  void end_step();

  /// Makes the update known to the other ranks, where they hold what this rank owns.
  void publish();

 private:
  // All_gathers of some units, begun and not yet waited for.
  struct Gather {
    std::vector<std::size_t> units;
    std::unique_ptr<Work> work;
  };

  bool is_sharded() const { return strategy_.parameters == Placement::sharded; }
  const GatherStep& plan_step() const { return (is_first_step_ ? first_plan_ : later_plan_)[use_]; }
  Gather begin_gather(const std::vector<std::size_t>& units);
  void allocate(std::size_t unit);
  void copy_own_shard(std::size_t unit);
  void wait_for(std::size_t unit);
  Tensor tensor(std::size_t tensor) const;
  void publish_shards();
  void publish_by_broadcast();

  const Strategy& strategy_;
  const ShardGeometry& geometry_;
  std::vector<LayerUse> uses_;
  ProcessGroup& group_;
  std::vector<GatherStep> first_plan_;  // Of the first optimizer step, and of those after it.
  std::vector<GatherStep> later_plan_;
  bool is_first_step_ = true;
  std::size_t use_ = 0;           // The next one, or the one under way.
  Buffer held_;                   // Full layout if replicated, shard layout if sharded.
  std::vector<Buffer> gathered_;  // By unit, if sharded: whole while it is gathered.
  std::vector<std::size_t> persistent_;
  std::vector<Gather> under_way_;
};

}  // namespace shardscope
