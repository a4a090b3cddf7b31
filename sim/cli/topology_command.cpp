#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/report/topology_report.h"

namespace shardscope {

int topology_command(const TopologyArguments& arguments) {
  Messages messages;
  const auto source = read_point_source(arguments.scenario, arguments.set, {}, messages);
  const auto opened = source.has_value() ? open_scenario(*source, messages) : std::nullopt;
  if (!opened.has_value()) {
    return report(messages);
  }
  const Scenario& scenario = opened->scenario;
  const Topology topology = topology_of(scenario.cluster);
  const TopologyFacts facts = topology_facts(topology, scenario.cluster.placement);
  bool printed = false;
  if (arguments.dot.has_value()) {
    if (const int code = write_or_print(*arguments.dot, topology_dot(topology)); code != 0) {
      return code;
    }
    printed = *arguments.dot == "-";
  }
  if (arguments.json.has_value()) {
    const std::string json = topology_json(scenario, topology, facts, SHARDSCOPE_VERSION);
    if (const int code = write_or_print(*arguments.json, json); code != 0) {
      return code;
    }
    printed = printed || *arguments.json == "-";
  }
  return printed ? 0
                 : print(topology_text(scenario, topology, facts, is_colour_terminal(),
                                       terminal_width()));
}

}  // namespace shardscope
