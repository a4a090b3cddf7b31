#include <optional>

#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/report/topology_report.h"
#include "sim/text/printable.h"
#include "sim/topology_files/platform_facts.h"

namespace shardscope {
namespace {

std::optional<TopologyFacts> facts_of(const Cluster& cluster, const Topology* topology,
                                      Messages& messages) {
  if (topology != nullptr) {
    return topology_facts(*topology, cluster.placement);
  }
  std::vector<Fault> faults;
  std::vector<std::string> hosts;
  for (const std::size_t device : cluster.placement) {
    hosts.push_back(cluster.platform->hosts[device]);
  }
  auto facts = platform_facts(cluster.platform->path, hosts, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  return facts;
}

}  // namespace

int topology_command(const TopologyArguments& arguments) {
  Messages messages;
  const auto source = read_point_source(arguments.scenario, arguments.set, {}, messages);
  std::optional<Scenario> opened;
  if (source.has_value()) {
    opened = open_cluster(*source, messages);
  }
  if (!opened.has_value()) {
    return report(messages);
  }
  const Scenario& scenario = *opened;
  const bool is_platform = scenario.cluster.platform.has_value();
  if (is_platform && arguments.dot.has_value()) {
    return report(
        {"--dot: a SimGrid platform keeps its own routes and is no graph; --json has its routes"});
  }
  if (arguments.dot.has_value() && arguments.dot == arguments.json) {
    return report({"--json " + shown(*arguments.json) + ": is also the output of --dot"});
  }
  const Topology topology = is_platform ? Topology() : topology_of(scenario.cluster);
  const Topology* const known = is_platform ? nullptr : &topology;
  const auto facts = facts_of(scenario.cluster, known, messages);
  if (!facts.has_value()) {
    return report(messages);
  }
  bool printed = false;
  if (arguments.dot.has_value()) {
    if (const int code = write_or_print(*arguments.dot, topology_dot(topology)); code != 0) {
      return code;
    }
    printed = *arguments.dot == "-";
  }
  if (arguments.json.has_value()) {
    const std::string json = topology_json(scenario, known, *facts, SHARDSCOPE_VERSION);
    if (const int code = write_or_print(*arguments.json, json); code != 0) {
      return code;
    }
    printed = printed || *arguments.json == "-";
  }
  return printed ? 0
                 : print(topology_text(scenario, *facts, is_colour_terminal(), terminal_width()));
}

}  // namespace shardscope
