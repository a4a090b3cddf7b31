#include "sim/explain/explain.h"

#include "sim/explain/record_step.h"
#include "sim/explain/tell.h"
#include "sim/explain/wording.h"

namespace shardscope {

Explanation explain(const Scenario& scenario, const Sources& sources, std::int64_t step,
                    const CollectivePlanner& planner) {
  Explanation explanation = {.title = scenario.name + ": one training step, told in order",
                             .introduction = introduction(scenario),
                             .stories = {}};
  for (const Strategy& strategy : scenario.strategies) {
    explanation.stories.push_back(tell(scenario, strategy, step,
                                       record_step(scenario, strategy, sources, step, planner),
                                       planner));
  }
  return explanation;
}

}  // namespace shardscope
