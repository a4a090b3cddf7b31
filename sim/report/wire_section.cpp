#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace {

std::string steps_text(const WireSteps& steps) {
  return steps.first == steps.last
             ? "step " + std::to_string(steps.first)
             : "steps " + std::to_string(steps.first) + " to " + std::to_string(steps.last);
}

/// "DEEPSPEED_STAGE3 5.16 in step 1": where other steps than the last sent other bytes.
std::string differing_steps(const RunResult& run, const RunSummary& summary, const Unit& unit) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> parts;
  for (const WireSteps& steps : summary.wire_steps) {
    if (steps.sent != summary.wire.sent) {
      parts.push_back(significant(static_cast<double>(steps.sent) / unit.size) + " in " +
                      steps_text(steps));
    }
  }
  if (parts.size() > kMostNamed) {
    parts.resize(kMostNamed - 1);
    parts.emplace_back("others elsewhere");
  }
  return parts.empty() ? "" : strategy_name(run) + " " + listed(parts);
}

std::string differing_runs(const ComparedRuns& compared, const Unit& unit) {
  std::string text;
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const std::string part = differing_steps(run, summary, unit);
    text += (text.empty() || part.empty() ? "" : "; ") + part;
  });
  return text.empty() ? "" : "These are the last step's; other steps differ: " + text + ". ";
}

/// Equal figures share a mention.
std::string control_bytes(const ComparedRuns& compared) {
  std::map<std::uint64_t, std::vector<std::string>> by_bytes;
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    if (summary.wire.control_sent > 0) {
      by_bytes[summary.wire.control_sent].push_back(strategy_name(run));
    }
  });
  std::string text;
  for (const auto& [bytes, names] : by_bytes) {
    text += (text.empty() ? "" : "; ") + format_bytes(static_cast<double>(bytes)) + " with " +
            listed(names);
  }
  return text.empty() ? "" : "Not in it: all_reduces of norms and overflow flags, " + text + ". ";
}

}  // namespace

void write_wire(const ComparedRuns& compared, Page& page) {
  std::uint64_t most = 0;
  for (const RunSummary& summary : compared.summaries) {
    most = std::max(most, summary.completed ? summary.wire.all_ranks_sent : 0);
  }
  const Unit unit = byte_unit(static_cast<double>(most));
  const auto figure = [&](std::uint64_t bytes) {
    return significant(static_cast<double>(bytes) / unit.size);
  };
  Table table =
      strategy_table({"sent", "predicted", "received", "per\nparameter", "by all\nranks"});
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const WireBytes& wire = summary.wire;
    const double per_parameter =
        static_cast<double>(wire.sent) / static_cast<double>(run.parameters());
    table.add_row({row_name(run), figure(wire.sent), figure(wire.predicted_sent),
                   figure(wire.received), significant(per_parameter) + " B",
                   figure(wire.all_ranks_sent)});
  });
  page.section("Wire of a step, " + std::string(unit.name) + " (the rank that sends most)", table,
               differing_runs(compared, unit) + control_bytes(compared) +
                   agreement(compared, "Bytes sent", &RunSummary::wire_difference));
}

}  // namespace shardscope
