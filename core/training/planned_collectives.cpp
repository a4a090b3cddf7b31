#include "core/training/planned_collectives.h"

namespace shardscope {

PlannedCollectives::PlannedCollectives(RankGroup group, int rank, const CollectivePlanner* planner)
    : group_(group), rank_(rank), planner_(planner != nullptr ? *planner : ring_planner()) {}

std::uint64_t PlannedCollectives::sent_bytes(Operation operation, std::uint64_t elements,
                                             DType dtype, int root) const {
  const std::uint64_t bytes = size_of(dtype);
  const auto plan = planner_.plan(operation, group_, bytes * elements);
  return bytes *
         predicted_sent_elements(
             {*plan, operation, group_.size, Chunking::even(elements, group_.size), root}, rank_);
}

std::uint64_t PlannedCollectives::staging_bytes(Operation operation, std::uint64_t elements,
                                                DType dtype, std::size_t parts) const {
  const std::uint64_t bytes = size_of(dtype);
  const auto plan = planner_.plan(operation, group_, bytes * elements);
  const Staging staging = predicted_staging(
      {*plan, operation, group_.size, Chunking::even(elements, group_.size)}, rank_);
  return bytes * (staging.added + (parts > 1 ? staging.sent + staging.received : 0));
}

PlannedCollectives shard_group(const TrainingRank& rank) {
  const int size = shard_group_ranks(rank.strategy, rank.world_size);
  return {{.first = rank.rank / size * size, .stride = 1, .size = size},
          rank.rank % size,
          rank.planner};
}

PlannedCollectives replica_group(const TrainingRank& rank) {
  const int size = shard_group_ranks(rank.strategy, rank.world_size);
  return {{.first = rank.rank % size, .stride = size, .size = rank.world_size / size},
          rank.rank / size,
          rank.planner};
}

}  // namespace shardscope
