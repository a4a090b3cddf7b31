#include <algorithm>
#include <string>
#include <vector>

#include "sim/critical_path/critical_path.h"
#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostShares = 3;

struct Analysed {
  const RunResult& run;
  CriticalPath path;
};

double seconds_of(const std::vector<PathShare>& shares, std::string_view name) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.name == name; });
  return found == shares.end() ? 0 : found->seconds;
}

// "layers.1 64 %, layers.0 20 %": the largest named ones.
std::string largest(const CriticalPath& path, const std::vector<PathShare>& shares) {
  std::string text;
  std::size_t shown = 0;
  for (const PathShare& share : shares) {
    if (!share.name.empty() && shown < kMostShares) {
      text += (text.empty() ? "" : ", ") + share.name + " " +
              format_percent(share.seconds / path.length_s);
      ++shown;
    }
  }
  return text.empty() ? "-" : text;
}

Unit unit_of(const std::vector<Analysed>& analysed) {
  double longest = 0;
  for (const Analysed& each : analysed) {
    longest = std::max(longest, each.path.length_s);
  }
  return time_unit(longest);
}

/// In sentences where the table does not fit.
void write_places(const std::vector<Analysed>& analysed, const Table& table, Page& page) {
  const std::string title = "Where the critical path runs (largest shares)";
  if (table.width() <= page.width()) {
    page.section(title, table);
    return;
  }
  page.heading(title);
  for (const auto& [run, path] : analysed) {
    page.paragraph(row_name(run) + ": " + largest(path, path.layers) + "; links " +
                   largest(path, path.links));
  }
}

void write_shares(const std::vector<Analysed>& analysed, Page& page) {
  const Unit unit = unit_of(analysed);
  std::vector<std::string> phases = {"forward", "backward", "optimizer", "transfer", "latency"};
  if (std::any_of(analysed.begin(), analysed.end(), [](const Analysed& each) {
        return seconds_of(each.path.phases, "checkpoint") > 0;
      })) {
    phases.insert(phases.begin() + 3, "checkpoint");
  }
  std::vector<std::string> titles = {"length"};
  titles.insert(titles.end(), phases.begin(), phases.end());
  Table table = strategy_table(titles);
  Table places;
  places.add_column("", Align::left);
  places.add_column("layers", Align::left);
  places.add_column("links", Align::left);
  for (const auto& [run, path] : analysed) {
    std::vector<std::string> row = {row_name(run), significant(path.length_s / unit.size)};
    for (const std::string& phase : phases) {
      row.push_back(format_percent(seconds_of(path.phases, phase) / path.length_s));
    }
    table.add_row(row);
    places.add_row({row_name(run), largest(path, path.layers), largest(path, path.links)});
  }
  page.section(
      "Critical path of step " +
          format_count(static_cast<std::uint64_t>(analysed.front().path.step)) + ", " +
          std::string(unit.name),
      table,
      "The longest chain of kernels and messages: its length is the step's wall-clock time.");
  write_places(analysed, places, page);
}

void write_what_ifs(const std::vector<Analysed>& analysed, double slowdown, Page& page) {
  const Unit unit = unit_of(analysed);
  Table table = strategy_table(
      {"now", "free\ncommunication", "bandwidth\nx 2", "latency\n0", "devices\nx 2"});
  for (const auto& [run, path] : analysed) {
    std::vector<std::string> row = {row_name(run), significant(path.length_s / unit.size)};
    for (const WhatIf& what_if : path.what_ifs) {
      row.push_back(significant(what_if.wall_s / unit.size));
    }
    table.add_row(row);
  }
  page.section(
      "The step would take, " + std::string(unit.name), table,
      "Computed by timing the recorded step's graph anew, not simulated. Devices x 2: twice "
      "the flops and memory bandwidth; kernel launches and checkpoints stay." +
          std::string(slowdown == 1 ? ""
                                    : " Not exact: kernels that communication slowed down in the "
                                      "recorded step stay as slow."));
}

}  // namespace

void write_critical_path(const ComparedRuns& compared, Page& page) {
  std::vector<Analysed> analysed;
  std::vector<std::string> too_large;
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    std::optional<CriticalPath> path = critical_path(run);
    if (path.has_value()) {
      analysed.push_back({run, std::move(*path)});
    } else {
      too_large.push_back(strategy_name(run));
    }
  });
  if (!analysed.empty()) {
    write_shares(analysed, page);
    write_what_ifs(analysed, compared.scenario.device.communication_slowdown, page);
  }
  if (!too_large.empty()) {
    page.empty_line();
    page.paragraph(
        "No critical path of " + listed(too_large) +
        (compared.scenario.cluster.collective.fidelity == Fidelity::message
             ? ": a step has more messages than are recorded."
             : ": collectives as flows (cluster.collective.fidelity) have no messages."));
  }
}

}  // namespace shardscope
