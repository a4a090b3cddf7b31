#include "core/training/formulas.h"

#include "core/training/buckets.h"
#include "core/training/gather_plan.h"
#include "core/training/planned_collectives.h"
#include "core/training/shard_geometry.h"

namespace shardscope {
namespace {

std::uint64_t ceil_divide(std::uint64_t count, int parts) {
  const auto n = static_cast<std::uint64_t>(parts);
  return count / n + (count % n != 0 ? 1 : 0);
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
        shard_group_(shard_group(rank)),
        replicas_(replica_group(rank)),
        geometry_(rank.strategy, rank.model, ranks_) {}

  std::uint64_t gradients() const {
    std::uint64_t inside = 0;
    std::uint64_t across = 0;
    std::uint64_t kept = 0;
    const DType w = options_.reduce_precision;
    for (const Bucket& bucket : make_buckets(strategy_.reduction.buckets, geometry_,
                                             size_of(options_.accumulate_precision()))) {
      if (strategy_.reduction.collective == Reduction::all_reduce) {
        inside += shard_group_.sent_bytes(Operation::all_reduce, bucket.count, w);
        continue;
      }
      std::uint64_t shard = 0;
      for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
           u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
        shard += geometry_.units()[u].shard;
      }
      inside += shard_group_.sent_bytes(Operation::reduce_scatter, whole(shard), w);
      across += replicas_.sent_bytes(Operation::all_reduce, shard, w);
      kept += shard;
    }
    const std::uint64_t reductions =
        strategy_.reduction.every_micro_step ? options_.micro_batches : 1;
    if (strategy_.reduce_across_every_micro_step) {
      return reductions * (inside + across);
    }
    return reductions * inside + replicas_.sent_bytes(Operation::all_reduce, kept, w);
  }

  std::uint64_t gathers(bool first_step) const {
    std::uint64_t bytes = 0;
    for (const GatherStep& step : make_gather_plan(
             strategy_, geometry_,
             ActivationCheckpoints(model_, options_.activation_checkpointing).uses(), first_step)) {
      bytes += gather(step.fetch);
      for (const std::vector<std::size_t>& units : step.prefetch) {
        bytes += gather(units);
      }
    }
    return options_.micro_batches * bytes;
  }

  std::uint64_t update() const {
    std::uint64_t bytes = 0;
    std::vector<std::size_t> published;
    for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
      const ShardUnit& unit = geometry_.units()[u];
      if (unit.owner.has_value()) {
        bytes += shard_group_.sent_bytes(Operation::broadcast, unit.count, options_.precision,
                                         *unit.owner);
      } else if (strategy_.parameters == Placement::sharded ? is_persistent(strategy_, unit)
                                                            : strategy_.has_shards()) {
        published.push_back(u);
      }
    }
    return bytes + gather(published);
  }

 private:
  std::uint64_t whole(std::uint64_t shard) const {
    return static_cast<std::uint64_t>(ranks_) * shard;
  }

  // One all_gather.
  std::uint64_t gather(const std::vector<std::size_t>& units) const {
    std::uint64_t shards = 0;
    for (const std::size_t unit : units) {
      shards += geometry_.units()[unit].shard;
    }
    return shard_group_.sent_bytes(Operation::all_gather, whole(shards), options_.precision);
  }

  const Strategy& strategy_;
  const ModelSpec& model_;
  const TrainingOptions& options_;
  int ranks_;
  PlannedCollectives shard_group_;
  PlannedCollectives replicas_;
  ShardGeometry geometry_;
};

}  // namespace

namespace {

CategoryBytes all_state_bytes(const TrainingRank& rank) {
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

bool is_on_host(const TrainingRank& rank, Category category) {
  switch (category) {
    case Category::gradients:
      return has_gradients_on_host(rank.strategy, rank.options.optimizer_on_host);
    case Category::master_weights:
    case Category::first_moment:
    case Category::second_moment:
      return has_states_on_host(rank.strategy, rank.options.optimizer_on_host);
    default:
      return false;
  }
}

CategoryBytes states_at(const TrainingRank& rank, bool on_host) {
  CategoryBytes bytes = all_state_bytes(rank);
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    bytes[i] = is_on_host(rank, static_cast<Category>(i)) == on_host ? bytes[i] : 0;
  }
  return bytes;
}

}  // namespace

CategoryBytes predicted_state_bytes(const TrainingRank& rank) {
  return states_at(rank, /*on_host=*/false);
}

CategoryBytes predicted_host_bytes(const TrainingRank& rank) {
  return states_at(rank, /*on_host=*/true);
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
