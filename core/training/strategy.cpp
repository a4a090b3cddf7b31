#include "core/training/strategy.h"

#include <algorithm>

namespace shardscope {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// arXiv 1910.02054 (ZeRO), section 5; the plain forms, without buckets or overlap.
Strategy paper_ddp() {
  Strategy s;
  s.name = "DDP";
  return s;
}

Strategy paper_naive_zero() {
  Strategy s = paper_ddp();
  s.name = "NAIVE_ZERO";
  s.optimizer = Placement::sharded;
  return s;
}

Strategy paper_zero1() {
  Strategy s = paper_naive_zero();
  s.name = "ZERO1";
  s.reduction.collective = Reduction::reduce_scatter;
  return s;
}

Strategy paper_zero2() {
  Strategy s = paper_zero1();
  s.name = "ZERO2";
  s.gradients = Placement::sharded;
  s.partition = Partition::layer;
  s.reduction.time = ReductionTime::during_backward;
  s.reduction.buckets.kind = BucketRule::Kind::layer;
  s.reduction.every_micro_step = true;
  return s;
}

Strategy paper_zero3() {
  Strategy s = paper_zero2();
  s.name = "ZERO3";
  s.parameters = Placement::sharded;
  return s;
}

// torch.nn.parallel.DistributedDataParallel: buckets in reverse order, the first of 1 MiB, then of
// 25 MiB (arXiv 2006.15704, section 3.2.3); bucket memory beside the gradients; gradients of an
// accumulation are reduced at the last micro-step (no_sync).
Strategy torch_ddp() {
  Strategy s = paper_ddp();
  s.name = "TORCH_DDP";
  s.reduction.time = ReductionTime::during_backward;
  s.reduction.buckets = {.kind = BucketRule::Kind::closed_at_size,
                         .bytes = 25 * kMiB,
                         .first_bytes = kMiB,
                         .elements = 0};
  s.reduction.overlap = true;
  s.reduction.persistent_buckets = true;
  return s;
}

// DeepSpeed's defaults (runtime/zero/config.py, runtime/engine.py, runtime/zero/stage_1_and_2.py
// and stage3.py at edaa7221). All stages pass gradients in buckets of 5e8 elements. Stage 0 reduces
// a flattened copy of each after backward.
Strategy deepspeed_stage0() {
  Strategy s = paper_ddp();
  s.name = "DEEPSPEED_STAGE0";
  s.framework = Framework::deepspeed;
  s.reduction.buckets = {.kind = BucketRule::Kind::closed_before_it,
                         .bytes = 0,
                         .first_bytes = 0,
                         .elements = 500'000'000};
  s.reduction.reduces_copy = true;
  return s;
}

// use_multi_rank_bucket_allreduce: buckets are all-reduced, of which a rank keeps its part. One
// flat group padded to a multiple of 2N; one contiguous buffer (two with overlap).
Strategy deepspeed_stage1() {
  Strategy s = deepspeed_stage0();
  s.name = "DEEPSPEED_STAGE1";
  s.optimizer = Placement::sharded;
  s.padding = 2;
  s.reduction.contiguous_buffers = 1;
  s.fp32_gradient_copy = kNoLimit;
  return s;
}

Strategy deepspeed_stage2() {
  Strategy s = deepspeed_stage1();
  s.name = "DEEPSPEED_STAGE2";
  s.gradients = Placement::sharded;
  s.reduction.time = ReductionTime::during_backward;
  s.reduction.every_micro_step = true;
  return s;
}

// Every tensor is cut; overlap_comm is on at this stage alone, with one reduction in flight.
Strategy deepspeed_stage3() {
  Strategy s = deepspeed_stage2();
  s.name = "DEEPSPEED_STAGE3";
  s.parameters = Placement::sharded;
  s.partition = Partition::tensor;
  s.padding = 1;
  s.reduction.collective = Reduction::reduce_scatter;
  s.reduction.overlap = true;
  s.reduction.max_in_flight = 1;
  s.gather.traced = true;
  s.gather.prefetch_elements = 50'000'000;
  s.gather.persistence_threshold = 100'000;
  s.gather.max_reuse_distance = 1'000'000'000;
  s.gather.max_live_parameters = 1'000'000'000;
  s.fp32_gradient_copy = 1'000'000'000;  // sub_group_size
  return s;
}

// torch.distributed.fsdp.FullyShardedDataParallel (arXiv 2304.11277), every linear layer of a
// perceptron a unit and no parameters in the root; of a transformer every block, the rest the root:
// the next layer is gathered before the current one computes (BACKWARD_PRE, and in forward as far
// as the limit of two gathers goes).
Strategy fsdp_full_shard() {
  Strategy s = paper_zero3();
  s.name = "FSDP_FULL_SHARD";
  s.reduction.overlap = true;
  s.reduction.max_in_flight = 1;
  s.gather.prefetch_layers = 1;
  s.gather.max_in_flight = 2;
  s.gather.keeps_root = true;
  return s;
}

Strategy fsdp_shard_grad_op() {
  Strategy s = fsdp_full_shard();
  s.name = "FSDP_SHARD_GRAD_OP";
  s.gather.reshard_after_forward = false;
  return s;
}

Strategy fsdp_no_shard() {
  Strategy s = paper_ddp();
  s.name = "FSDP_NO_SHARD";
  s.reduction.time = ReductionTime::during_backward;
  s.reduction.buckets.kind = BucketRule::Kind::layer;
  s.reduction.overlap = true;
  s.reduction.every_micro_step = true;
  return s;
}

// Shards inside a group of ranks, by default the eight of a node.
Strategy fsdp_hybrid_shard() {
  Strategy s = fsdp_full_shard();
  s.name = "FSDP_HYBRID_SHARD";
  s.shard_group_size = 8;
  return s;
}

// torch.distributed.optim.ZeroRedundancyOptimizer under DistributedDataParallel: whole tensors to
// owners, the largest first to the rank that has least; each owner broadcasts its tensors.
Strategy zero_redundancy_optimizer() {
  Strategy s = torch_ddp();
  s.name = "ZERO_REDUNDANCY_OPTIMIZER";
  s.optimizer = Placement::sharded;
  s.partition = Partition::tensor_owner;
  return s;
}

}  // namespace

int shard_group_ranks(const Strategy& strategy, int world_size) {
  if (strategy.shard_group_size == 0) {
    return world_size;
  }
  int ranks = std::min(strategy.shard_group_size, world_size);
  while (world_size % ranks != 0) {
    --ranks;
  }
  return ranks;
}

const std::vector<Strategy>& paper_strategies() {
  static const std::vector<Strategy> strategies = {paper_ddp(), paper_naive_zero(), paper_zero1(),
                                                   paper_zero2(), paper_zero3()};
  return strategies;
}

const std::vector<Strategy>& all_strategies() {
  static const std::vector<Strategy> strategies = [] {
    std::vector<Strategy> all = paper_strategies();
    all.insert(all.end(), {torch_ddp(), deepspeed_stage0(), deepspeed_stage1(), deepspeed_stage2(),
                           deepspeed_stage3(), fsdp_full_shard(), fsdp_shard_grad_op(),
                           fsdp_no_shard(), fsdp_hybrid_shard(), zero_redundancy_optimizer()});
    return all;
  }();
  return strategies;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.name == name) {
      return &strategy;
    }
  }
  return nullptr;
}

}  // namespace shardscope
