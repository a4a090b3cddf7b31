#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/format.h"
#include "sim/report/limits.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

/// The steps that RunSummary::mean covers.
std::string steps_of_mean(const TrainingOptions& training) {
  if (training.steps <= 2) {
    return "step " + format_count(training.steps);
  }
  return "mean of steps 2 to " + format_count(training.steps);
}

void write_step_time(const ComparedRuns& compared, Page& page) {
  double longest = 0;
  for (const RunSummary& summary : compared.summaries) {
    longest = std::max(longest, summary.completed ? summary.mean.wall_s : 0);
  }
  const Unit unit = time_unit(longest);
  const auto figure = [&](double seconds) { return significant(seconds / unit.size); };
  Table table =
      strategy_table({"wall", "forward", "backward", "optimizer", "exposed", "of wall", "busy"});
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const MeanTime& mean = summary.mean;
    table.add_row({strategy_name(run), figure(mean.wall_s), figure(mean.forward_s),
                   figure(mean.backward_s), figure(mean.optimizer_s), figure(mean.exposed_s),
                   format_percent(mean.exposed_s / mean.wall_s), figure(mean.busy_s)});
  });
  page.section("Time of a step, " + std::string(unit.name) + " (" +
                   steps_of_mean(compared.scenario.training) + ")",
               table,
               "wall = forward + backward + optimizer + exposed. Exposed: compute waits for "
               "communication; busy: communication in flight, hidden or not. Each step counts the "
               "rank that finishes it last.");
}

void write_limits(const ComparedRuns& compared, Page& page) {
  Table table;
  table.add_column("", Align::left);
  table.add_column("limited by", Align::left);
  for (const std::string title :
       {"compute", "memory\nbandwidth", "link\nbandwidth", "link\nlatency", "kernel\nlaunches"}) {
    table.add_column(title, Align::right);
  }
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    const LimitSummary limits = summarize_limits(run);
    const LimitShare* largest = limits.largest();
    std::vector<std::string> row = {strategy_name(run),
                                    largest == nullptr ? "-" : std::string(largest->description)};
    for (const LimitShare& share : limits.shares) {
      row.push_back(format_percent(share.share));
    }
    table.add_row(std::move(row));
  });
  page.section("What limits a step (share of the wall that each alone accounts for)", table);
}

}  // namespace

void write_time(const ComparedRuns& compared, Page& page) {
  write_step_time(compared, page);
  write_limits(compared, page);
}

}  // namespace shardscope
