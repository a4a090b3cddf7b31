// The gradients of one rank, from the moment a layer's backward writes them until the optimizer
// reads the averages of the elements it owns: accumulated over micro-steps, reduced in buckets.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "core/device/process_group.h"
#include "core/tensor/buffer.h"
#include "core/training/buckets.h"
#include "core/training/options.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"

namespace shardscope {

/// The ranks among which things are sharded, and the ranks that hold the same shards as this one.
struct TrainingGroups {
  ProcessGroup shard;
  ProcessGroup replicas;
};

class GradientReducer {
 public:
  /// Allocates what is kept for the whole training (throws OutOfMemory). Backward writes gradients
  /// in options.precision; they are kept and accumulated in accumulate_precision, summed over ranks
  /// and averaged in reduce_precision, which is also what is sent. References must outlive the
  /// reducer.
  GradientReducer(const Strategy& strategy, const ShardGeometry& geometry,
                  const TrainingOptions& options, TrainingGroups& groups);

  /// Backward of micro-step 0, 1, ... of an optimizer step begins; the last one is
  /// options.micro_batches - 1.
  void begin_micro_step(std::size_t index);

  /// Where to write the gradients of a layer's tensors. Valid until `ready`. Layers come last to
  /// first.
  std::vector<Tensor> begin(std::size_t layer);

  /// The layer's gradient is complete.
  void ready(std::size_t layer);

  /// After the last layer. Returns when every gradient that this micro-step reduces is.
  void end_micro_step();

  /// The averages of the rank's owned elements, a tensor per unit, padding (zeros) included.
  std::vector<Tensor> owned() const;

  /// All that the rank keeps until the update, in the full or the shard layout.
  Tensor kept() const { return kept_.tensor(); }

 private:
  // A bucket whose collectives were begun.
  struct Pending {
    const Bucket* bucket = nullptr;
    Tensor sums;       // What is reduced: in torch order, a reduce_scatter's by rank.
    Buffer memory;     // That it has for itself.
    Buffer converted;  // A copy in the type that is sent.
    std::unique_ptr<Work> work;
    std::unique_ptr<Work> across;  // All_reduce of the own chunk across replicas.
  };

  // A part of the kept gradients and the reduced sums that are meant for it.
  struct Result {
    Tensor kept;
    Tensor sums;
  };

  bool keeps_shards() const { return strategy_.gradients == Placement::sharded; }
  bool is_on_host() const { return has_gradients_on_host(strategy_, options_.optimizer_on_host); }
  bool scatters() const { return reduction_.collective == Reduction::reduce_scatter; }
  bool is_last_micro_step() const { return micro_step_ + 1 == options_.micro_batches; }
  bool reduces_now() const { return reduction_.every_micro_step || is_last_micro_step(); }
  bool reduces_across_now() const;
  bool writes_to_kept() const;
  bool writes_whole_units() const;
  bool has_contiguous_memory(const Bucket& bucket) const;

  Tensor kept_tensor(std::size_t tensor) const;
  void accumulate(std::size_t layer);
  void allocate_contiguous();
  void hand_on(std::size_t tensor);
  void fill(std::size_t bucket, std::size_t tensor);
  void consumed(std::size_t tensor);
  void launch(std::size_t bucket);

  Tensor written(std::size_t tensor) const;
  Tensor gradient(std::size_t bucket, std::size_t tensor) const;
  Tensor input(std::size_t bucket, Pending& pending);
  Tensor view(std::size_t bucket, Pending& pending);
  void copy_in_torch_order(std::size_t bucket, Tensor wire) const;
  void copy_by_rank(std::size_t bucket, Tensor wire) const;
  std::size_t units_shard(const Bucket& bucket) const;
  Tensor own_chunk(const Pending& pending) const;

  std::vector<Result> results(const Pending& pending) const;
  std::vector<Result> reduced_results(const Pending& pending) const;
  std::vector<Result> scattered_results(const Pending& pending) const;
  void complete_oldest();
  void reduce_kept_across();

  const Strategy& strategy_;
  const ReductionOptions& reduction_;
  const ShardGeometry& geometry_;
  const TrainingOptions& options_;
  TrainingGroups& groups_;
  Device& device_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;   // By tensor.
  Buffer kept_;                          // Full layout if replicated, shard layout if sharded.
  Buffer persistent_;                    // Bucket memory beside kept_, in torch order.
  std::vector<Buffer> written_;          // By layer: its gradient as backward wrote it.
  std::vector<Buffer> contiguous_;       // Bucket memory while reducing: as far as it is used,
  std::vector<Buffer> contiguous_rest_;  // and the rest, which has no storage.
  std::size_t micro_step_ = 0;
  std::deque<Pending> pending_;
};

}  // namespace shardscope
