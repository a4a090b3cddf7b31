#include "sim/plan/run_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/plan/recommendation.h"

namespace shardscope {
namespace {

bool is_before(const Plan& plan, const PlanRow& a, const PlanRow& b) {
  const int ranks_a = plan.point_of(a).ranks;
  const int ranks_b = plan.point_of(b).ranks;
  if (ranks_a != ranks_b || a.completed() != b.completed()) {
    return std::pair(ranks_a, !a.completed()) < std::pair(ranks_b, !b.completed());
  }
  return a.completed() ? tokens_per_s(plan, a) > tokens_per_s(plan, b)
                       : peak_bytes(a) < peak_bytes(b);
}

}  // namespace

void run_plan(Plan& plan, const PlanRunOptions& options) {
  std::vector<PlanTask> tasks;
  for (std::size_t p = 0; p < plan.points.size(); ++p) {
    for (const Strategy& strategy : plan.points[p].scenario.strategies) {
      tasks.push_back({&plan.points[p].scenario, strategy});
      plan.rows.push_back({.point = p, .strategy = strategy, .figures = {}});
    }
  }
  const std::vector<PlanFigures> figures = run_plan_tasks(tasks, options);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    plan.rows[i].figures = figures[i];
  }
  std::stable_sort(plan.rows.begin(), plan.rows.end(),
                   [&](const PlanRow& a, const PlanRow& b) { return is_before(plan, a, b); });
  recommend(plan, options);
}

}  // namespace shardscope
