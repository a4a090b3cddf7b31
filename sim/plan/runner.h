// Runs the candidates of a plan, a child process each, several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/plan/plan.h"

namespace shardscope {

struct PlanRunOptions {
  std::size_t jobs = 1;                                             ///< Children at once.
  std::function<void(std::size_t done, std::size_t all)> progress;  ///< May be empty.
};

/// A scenario under one strategy.
struct PlanTask {
  const Scenario* scenario = nullptr;
  Strategy strategy;
};

/// The figures of each task, in their order: of its last step. A child that dies is of outcome
/// "failed". Ends early, with what it has, if Interruption notes a signal.
std::vector<PlanFigures> run_plan_tasks(const std::vector<PlanTask>& tasks,
                                        const PlanRunOptions& options);

}  // namespace shardscope
