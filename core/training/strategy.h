// A data-parallel strategy: choices in the one training step. A preset is a row of them under an
// honest name; strategy.cpp lists all presets with their sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace shardscope {

/// No limit, for the sizes below.
inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Whether every rank holds a thing whole, or each rank its shard of it.
enum class Placement { replicated, sharded };

/// The collective that sums gradients.
enum class Reduction { all_reduce, reduce_scatter };

/// When gradients are reduced: bucket by bucket while backward goes on, or after it.
enum class ReductionTime { after_backward, during_backward };

/// What is cut into shards: all parameters as one vector, those of each layer, or each tensor; or
/// nothing is cut, and each whole tensor has an owner (torch's ZeroRedundancyOptimizer).
enum class Partition { model, layer, tensor, tensor_owner };

/// Whose rules clipping and dynamic loss scaling follow.
enum class Framework { torch, deepspeed };

/// Which gradients share a collective. Backward hands tensors on last to first (b_l, then W_l).
struct BucketRule {
  enum class Kind {
    model,            ///< All of them.
    layer,            ///< Those of each layer.
    closed_at_size,   ///< Full with the tensor that reaches the size (torch DDP).
    closed_before_it  ///< Full when the next tensor would exceed the size; a tensor that is larger
                      ///< than the size goes alone (DeepSpeed).
  };
  Kind kind = Kind::model;
  std::uint64_t bytes = 0;        ///< closed_at_size, in the gradients' type.
  std::uint64_t first_bytes = 0;  ///< The same for the bucket that is full first.
  std::uint64_t elements = 0;     ///< closed_before_it.
};

struct ReductionOptions {
  Reduction collective = Reduction::all_reduce;
  ReductionTime time = ReductionTime::after_backward;
  BucketRule buckets;

  /// Backward goes on while a bucket is reduced; else it waits for each.
  bool overlap = false;

  /// With overlap, reductions under way at once: a further one waits for the oldest. 0: any number.
  int max_in_flight = 0;

  /// Buckets have memory of their own for the whole training, beside the gradients
  /// (gradient_as_bucket_view=False of torch DDP).
  bool persistent_buckets = false;

  /// While it reduces, a rank holds this many buffers of a whole bucket (contiguous_gradients of
  /// DeepSpeed); gradients are copied there as they come.
  int contiguous_buffers = 0;

  /// The collective works on a copy of the bucket.
  bool reduces_copy = false;

  /// Reduce in every micro-step; else at the last one of an optimizer step. Gradients that are kept
  /// whole are then averaged whole: not where the optimizer is cut into shards.
  bool every_micro_step = false;
};

/// When sharded parameters are gathered and released.
struct GatherOptions {
  /// Release a layer after its forward and gather it again for backward. With a trace
  /// (max_reuse_distance) the distance decides.
  bool reshard_after_forward = true;

  /// Units of a transformer outside its blocks (embeddings, final norm, output projection) are
  /// FSDP's root: once gathered in a micro-step they stay until their last use.
  bool keeps_root = false;

  /// Before a layer computes, gather so many of the layers that follow it in the same pass.
  std::size_t prefetch_layers = 0;

  /// Or, with a trace, tensors that follow until they are at least so many elements.
  std::uint64_t prefetch_elements = 0;

  /// A prefetch waits until fewer gathers than this are under way.
  int max_in_flight = std::numeric_limits<int>::max();

  /// Tensors of at most so many elements stay whole on every rank.
  std::uint64_t persistence_threshold = 0;

  /// Follow DeepSpeed's trace of the first step: from the second step on a tensor is not released
  /// if it is used again within max_reuse_distance elements, and prefetching begins.
  bool traced = false;
  std::uint64_t max_reuse_distance = 0;

  /// With a trace: prefetch only while fewer elements than this are gathered.
  std::uint64_t max_live_parameters = kNoLimit;
};

struct Strategy {
  std::string_view name;  ///< As in scenario files, e.g. "ZERO1".
  Framework framework = Framework::torch;
  Placement parameters = Placement::replicated;  ///< Sharded: gathered before each use.
  Placement gradients = Placement::replicated;   ///< What is kept until the update.
  Placement optimizer = Placement::replicated;   ///< What the optimizer owns. Sharded with
                                                 ///< replicated parameters: an all_gather (or
                                                 ///< broadcasts) publishes the update.
  Partition partition = Partition::model;

  /// Units are padded to a multiple of this many elements per rank.
  std::size_t padding = 1;

  ReductionOptions reduction = {};
  GatherOptions gather = {};

  /// Ranks that share one copy of what is sharded, at most (shard_group_ranks); replicas of it are
  /// kept in step by all_reduce of the shards' gradients. 0: all ranks, one copy.
  int shard_group_size = 0;

  /// With several groups: reduce across them in every micro-step (FSDP) or at the last (MiCS).
  bool reduce_across_every_micro_step = true;

  /// The optimizer works on an fp32 copy of half-type gradients, of at most so many elements at a
  /// time. 0: on the gradients themselves.
  std::uint64_t fp32_gradient_copy = 0;

  /// What is cut into shards is owned by one rank of its group, not by all.
  bool has_shards() const { return optimizer == Placement::sharded; }

  /// Shards are parts of tensors or of what they are joined to, and not whole tensors: ranks
  /// average the gradients of their own alone, and none knows all of them.
  bool cuts_shards() const { return has_shards() && partition != Partition::tensor_owner; }
};

/// Whether what TrainingOptions::optimizer_on_host concerns is on the host: the optimizer's states,
/// and the gradients that are kept.
inline bool has_states_on_host(const Strategy& strategy, bool optimizer_on_host) {
  return optimizer_on_host && strategy.has_shards();
}
inline bool has_gradients_on_host(const Strategy& strategy, bool optimizer_on_host) {
  return has_states_on_host(strategy, optimizer_on_host) &&
         strategy.gradients == Placement::sharded;
}

/// Ranks of a shard group: the largest divisor of the world size that is at most shard_group_size.
int shard_group_ranks(const Strategy& strategy, int world_size);

/// Every preset there is, in the order reports list them.
const std::vector<Strategy>& all_strategies();

/// The papers' five: DDP, NAIVE_ZERO, ZERO1, ZERO2, ZERO3.
const std::vector<Strategy>& paper_strategies();

/// The preset of that name, or null.
const Strategy* find_strategy(std::string_view name);

}  // namespace shardscope
