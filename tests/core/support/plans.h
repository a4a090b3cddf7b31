// Plans of every algorithm, and a planner that says what it is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/collectives/planner.h"

namespace shardscope::testing {

struct NamedPlan {
  std::string name;
  std::shared_ptr<const CollectivePlan> plan;
};

/// A plan of an algorithm for a group of so many ranks: one ring, two segments, and nodes of as
/// many ranks as divide the group most evenly.
std::shared_ptr<const CollectivePlan> simple_plan(Algorithm algorithm, int world_size);

/// What differs among a group's plans: one ring and several, segments from 1 to 3, nodes of every
/// size, with ranks next to each other and interleaved.
std::vector<NamedPlan> plans_of(int world_size);

/// A plan drawn from the seed.
NamedPlan random_plan(int world_size, std::uint64_t seed);

/// The same algorithm for everything.
class AlgorithmPlanner final : public CollectivePlanner {
 public:
  explicit AlgorithmPlanner(Algorithm algorithm) : algorithm_(algorithm) {}

  std::shared_ptr<const CollectivePlan> plan(Operation /*operation*/, const RankGroup& group,
                                             std::uint64_t /*bytes*/) const override {
    return simple_plan(algorithm_, group.size);
  }

 private:
  Algorithm algorithm_;
};

/// One plan for everything, i.e. for one group.
class FixedPlanner final : public CollectivePlanner {
 public:
  explicit FixedPlanner(std::shared_ptr<const CollectivePlan> plan) : plan_(std::move(plan)) {}

  std::shared_ptr<const CollectivePlan> plan(Operation /*operation*/, const RankGroup& /*group*/,
                                             std::uint64_t /*bytes*/) const override {
    return plan_;
  }

 private:
  std::shared_ptr<const CollectivePlan> plan_;
};

}  // namespace shardscope::testing
