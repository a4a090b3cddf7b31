#include <optional>
#include <stdexcept>
#include <string>

#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/collectives/cluster_planner.h"
#include "sim/explain/explain.h"
#include "sim/explain/limits.h"
#include "sim/explain/markdown.h"
#include "sim/explain/text.h"
#include "sim/topology/paths.h"

namespace shardscope {

int explain_command(const ExplainArguments& arguments) {
  Messages messages;
  std::optional<OpenedScenario> opened;
  if (const auto source =
          read_point_source(arguments.scenario, arguments.set, arguments.strategy, messages)) {
    opened = open_scenario(*source, messages);
  }
  if (opened.has_value()) {
    for (const Fault& fault :
         explain_faults(arguments.scenario, opened->scenario, arguments.step)) {
      messages.push_back(format_fault(fault));
    }
  }
  if (!messages.empty()) {
    return report(messages);
  }
  try {
    const Scenario& scenario = opened->scenario;
    const GraphPaths paths(topology_of(scenario.cluster), scenario.cluster.placement);
    const ClusterPlanner planner(scenario.cluster, paths);
    const Explanation explanation = explain(scenario, opened->sources, arguments.step, planner);
    return print(arguments.markdown ? explanation_markdown(explanation)
                                    : explanation_text(explanation, {.colour = is_colour_terminal(),
                                                                     .width = terminal_width()}));
  } catch (const std::runtime_error& error) {  // A file that cannot be read any more.
    report({error.what()});
    return kDiedExit;
  }
}

}  // namespace shardscope
