#include "core/training/formulas.h"

#include <algorithm>

#include "core/training/buckets.h"
#include "core/training/gather_plan.h"
#include "core/training/shard_geometry.h"

namespace shardscope {
namespace {

std::uint64_t ceil_divide(std::uint64_t count, int parts) {
  const auto n = static_cast<std::uint64_t>(parts);
  return count / n + (count % n != 0 ? 1 : 0);
}

// Elements of chunk `index` when S elements are cut into ceil(S / N).
std::uint64_t chunk_size(std::uint64_t elements, int ranks, int index) {
  const std::uint64_t k = ceil_divide(elements, ranks);
  const std::uint64_t begin = std::min(elements, k * static_cast<std::uint64_t>(index));
  return std::min(elements - begin, k);
}

std::uint64_t ring_all_reduce(std::uint64_t elements, int ranks, int rank) {
  return 2 * elements - chunk_size(elements, ranks, rank) -
         chunk_size(elements, ranks, (rank + 1) % ranks);
}

// Of the states, by what is held of parameters, gradients and fp32 states.
CategoryBytes state_bytes(DType precision, std::uint64_t parameters, std::uint64_t gradients,
                          std::uint64_t owned) {
  CategoryBytes bytes{};
  const auto set = [&](Category category, std::uint64_t value) {
    bytes[static_cast<std::size_t>(category)] = value;
  };
  set(Category::parameters, parameters);
  set(Category::gradients, gradients);
  set(Category::master_weights, precision == DType::fp32 ? 0 : 4 * owned);
  set(Category::first_moment, 4 * owned);
  set(Category::second_moment, 4 * owned);
  return bytes;
}

// A rank's place, and what the shard rule gives for it.
class Wire {
 public:
  explicit Wire(const TrainingRank& rank)
      : strategy_(rank.strategy),
        model_(rank.model),
        options_(rank.options),
        ranks_(shard_group_ranks(rank.strategy, rank.world_size)),
        replicas_(rank.world_size / ranks_),
        rank_(rank.rank % ranks_),
        replica_(rank.rank / ranks_),
        geometry_(rank.strategy, rank.model, ranks_) {}

  std::uint64_t gradients() const {
    std::uint64_t inside = 0;
    std::uint64_t across = 0;
    std::uint64_t kept = 0;
    for (const Bucket& bucket : make_buckets(strategy_.reduction.buckets, geometry_,
                                             size_of(options_.accumulate_precision()))) {
      if (strategy_.reduction.collective == Reduction::all_reduce) {
        inside += ring_all_reduce(bucket.count, ranks_, rank_);
        continue;
      }
      std::uint64_t shard = 0;
      for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
           u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
        shard += geometry_.units()[u].shard;
      }
      inside += others() * shard;
      across += ring_all_reduce(shard, replicas_, replica_);
      kept += shard;
    }
    const std::uint64_t reductions =
        strategy_.reduction.every_micro_step ? options_.micro_batches : 1;
    const std::uint64_t w = size_of(options_.reduce_precision);
    if (strategy_.reduce_across_every_micro_step) {
      return reductions * w * (inside + across);
    }
    return w * (reductions * inside + ring_all_reduce(kept, replicas_, replica_));
  }

  std::uint64_t gathers(bool first_step) const {
    std::uint64_t elements = 0;
    for (const GatherStep& step : make_gather_plan(
             strategy_, geometry_,
             layer_uses(model_.layer_count(), options_.activation_checkpointing), first_step)) {
      elements += shards(step.fetch);
      for (const std::vector<std::size_t>& units : step.prefetch) {
        elements += shards(units);
      }
    }
    return options_.micro_batches * size_of(options_.precision) * others() * elements;
  }

  std::uint64_t update() const {
    std::uint64_t elements = 0;
    for (const ShardUnit& unit : geometry_.units()) {
      if (unit.owner.has_value()) {
        const bool is_last = rank_ == (*unit.owner + ranks_ - 1) % ranks_;
        elements += is_last ? 0 : unit.count;
      } else if (strategy_.parameters == Placement::sharded ? is_persistent(strategy_, unit)
                                                            : strategy_.has_shards()) {
        elements += others() * unit.shard;
      }
    }
    return size_of(options_.precision) * elements;
  }

 private:
  std::uint64_t others() const { return static_cast<std::uint64_t>(ranks_ - 1); }

  std::uint64_t shards(const std::vector<std::size_t>& units) const {
    std::uint64_t elements = 0;
    for (const std::size_t unit : units) {
      elements += geometry_.units()[unit].shard;
    }
    return elements;
  }

  const Strategy& strategy_;
  const ModelSpec& model_;
  const TrainingOptions& options_;
  int ranks_;
  int replicas_;
  int rank_;
  int replica_;
  ShardGeometry geometry_;
};

}  // namespace

CategoryBytes predicted_state_bytes(const TrainingRank& rank) {
  const Strategy& strategy = rank.strategy;
  const int ranks = shard_group_ranks(strategy, rank.world_size);
  const ShardGeometry geometry(strategy, rank.model, ranks);
  const std::uint64_t whole = geometry.full_elements();
  const std::uint64_t owned = geometry.owned_elements(rank.rank % ranks);
  const auto held = [&](Placement placement) {
    return placement == Placement::sharded ? owned : whole;
  };
  return state_bytes(
      rank.options.precision, size_of(rank.options.precision) * held(strategy.parameters),
      size_of(rank.options.accumulate_precision()) * held(strategy.gradients), owned);
}

CategoryBytes model_state_bytes(const Strategy& strategy, std::uint64_t parameters, int world_size,
                                DType precision) {
  const std::uint64_t shard =
      strategy.padding * ceil_divide(parameters, world_size * static_cast<int>(strategy.padding));
  const bool cut = strategy.has_shards();
  const std::uint64_t whole = cut ? shard * static_cast<std::uint64_t>(world_size) : parameters;
  const auto held = [&](Placement placement) {
    return size_of(precision) * (placement == Placement::sharded ? shard : whole);
  };
  return state_bytes(precision, held(strategy.parameters), held(strategy.gradients),
                     cut ? shard : parameters);
}

std::uint64_t predicted_sent_bytes(const TrainingRank& rank, StepKind kind) {
  const Wire wire(rank);
  return wire.gradients() + wire.gathers(kind.is_first) + (kind.skipped ? 0 : wire.update());
}

}  // namespace shardscope
