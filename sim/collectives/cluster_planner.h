// Which schedules collectives follow on a scenario's cluster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/collectives/collective.h"
#include "core/collectives/planner.h"
#include "sim/scenario/cluster.h"
#include "sim/topology/paths.h"

namespace shardscope {

/// What AUTO chose, and the estimate by which it did.
struct CollectiveChoice {
  Operation operation = Operation::all_reduce;
  int ranks = 0;
  std::uint64_t bytes = 0;
  Algorithm algorithm = Algorithm::ring;
  double estimated_s = 0;
};

class ClusterPlanner final : public CollectivePlanner {
 public:
  /// Follows the cluster's collective.algorithm. Both must outlive it.
  ClusterPlanner(const Cluster& cluster, const ClusterPaths& paths);

  std::shared_ptr<const CollectivePlan> plan(Operation operation, const RankGroup& group,
                                             std::uint64_t bytes) const override;

  /// Whether a collective is simulated as flows, by the cluster's collective.fidelity. The same on
  /// all ranks; called from several threads.
  bool as_flows(const Collective& collective) const;

  /// Of AUTO, so far, by operation, ranks and bytes.
  std::vector<CollectiveChoice> choices() const;

 private:
  using Key = std::tuple<Operation, int, int, int, std::uint64_t>;
  struct Planned {
    std::shared_ptr<const CollectivePlan> plan;
    CollectiveChoice choice;
  };

  CollectivePlan make_plan(Algorithm algorithm, Operation operation, const RankGroup& group,
                           std::uint64_t bytes) const;
  Planned cheapest(Operation operation, const RankGroup& group, std::uint64_t bytes) const;
  std::vector<int> nodes_of(const RankGroup& group) const;
  std::vector<RankGroup> groups_beside(const RankGroup& group) const;

  const Cluster& cluster_;
  const ClusterPaths& paths_;
  mutable std::mutex mutex_;
  mutable std::map<Key, Planned> planned_;
  mutable std::map<Key, bool> as_flows_;
};

}  // namespace shardscope
