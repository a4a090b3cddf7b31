// What a plan sets of its scenario for the candidates on a number of ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/given.h"
#include "sim/plan/plan_request.h"
#include "sim/scenario/cluster.h"

namespace shardscope {

/// What a plan wants to know of its cluster.
struct PlanCluster {
  std::size_t devices_per_node = 1;
  std::size_t nics = 0;      ///< Of a node.
  std::size_t devices = 0;   ///< Of a cluster that a file describes.
  bool built_nodes = false;  ///< Rather than those of a file.
};

PlanCluster plan_cluster(const Cluster& cluster);

/// Candidates that one reading of the configuration, if there is one, is for.
struct PlanVariant {
  std::optional<FrameworkConfig> config = {};
  std::optional<std::string> strategies = {};  ///< None: the scenario's.
};

class PointOverrides {
 public:
  /// All must outlive it. `precision` is the parameters' where nobody says another.
  PointOverrides(const PlanRequest& request, const GivenFields& given, PlanCluster cluster,
                 std::string precision)
      : request_(request), given_(given), cluster_(cluster), precision_(std::move(precision)) {}

  /// In order: the plan's defaults, the configuration's, the user's, and those of the candidates.
  std::vector<Override> of(const PlanVariant& variant, int ranks, std::size_t batch) const;

  /// Where there is no configuration; none if the scenario says which.
  std::optional<std::string> strategies_without_config(int ranks) const;

 private:
  void add_config(const FrameworkConfig& config, std::vector<Override>& all) const;
  bool has_hybrid(const std::optional<std::string>& names) const;

  const PlanRequest& request_;
  const GivenFields& given_;
  PlanCluster cluster_;
  std::string precision_;
};

}  // namespace shardscope
