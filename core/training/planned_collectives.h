// The closed forms of a rank's collectives as its planner would have them carried out.
#pragma once

#include <cstdint>

#include "core/collectives/closed_forms.h"
#include "core/collectives/planner.h"
#include "core/tensor/dtype.h"
#include "core/training/formulas.h"

namespace shardscope {

/// A rank's place in one of its groups.
class PlannedCollectives {
 public:
  /// `rank` is that in the group. A null planner is ring_planner(); it must outlive this.
  PlannedCollectives(RankGroup group, int rank, const CollectivePlanner* planner);

  /// Bytes that the rank sends, of a vector of `elements` cut evenly into a chunk for each rank.
  std::uint64_t sent_bytes(Operation operation, std::uint64_t elements, DType dtype,
                           int root = 0) const;

  /// Bytes of its staging in the rank's ledger; `parts` is in how many tensors the vector lies.
  std::uint64_t staging_bytes(Operation operation, std::uint64_t elements, DType dtype,
                              std::size_t parts = 1) const;

 private:
  RankGroup group_;
  int rank_;
  const CollectivePlanner& planner_;
};

/// Those of a training: the ranks among which shards are cut, and those with the same shard.
PlannedCollectives shard_group(const TrainingRank& rank);
PlannedCollectives replica_group(const TrainingRank& rank);

}  // namespace shardscope
