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
std::string steps_of_mean(const ComparedRuns& compared) {
  std::uint64_t first = 1;
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    first = static_cast<std::uint64_t>(run.steps(0).step());
  });
  const std::uint64_t last = compared.scenario.training.steps;
  if (last - first <= 1) {
    return "step " + format_count(last);
  }
  return "mean of steps " + format_count(first + 1) + " to " + format_count(last);
}

Unit unit_of(const ComparedRuns& compared) {
  double longest = 0;
  for (const RunSummary& summary : compared.summaries) {
    longest = std::max(longest, summary.completed ? summary.mean.wall_s : 0);
  }
  return time_unit(longest);
}

/// More than what rounding leaves.
bool hides_communication(const MeanTime& mean) { return mean.hidden_s() > 1e-9 * mean.busy_s; }

bool any_hides_communication(const ComparedRuns& compared) {
  return std::any_of(compared.summaries.begin(), compared.summaries.end(), [](const auto& summary) {
    return summary.completed && hides_communication(summary.mean);
  });
}

bool any_saves(const ComparedRuns& compared) {
  return std::any_of(compared.summaries.begin(), compared.summaries.end(), [](const auto& summary) {
    return summary.completed && summary.mean.checkpoint_s > 0;
  });
}

bool any_skips_steps(const ComparedRuns& compared) {
  return std::any_of(compared.summaries.begin(), compared.summaries.end(),
                     [](const auto& summary) { return !summary.skipped_steps.empty(); });
}

/// With a column of what is busy, unless it has a table of its own.
void write_step_time(const ComparedRuns& compared, const Unit& unit, bool with_busy, Page& page) {
  const auto figure = [&](double seconds) { return significant(seconds / unit.size); };
  const bool saves = any_saves(compared);
  std::vector<std::string> titles = {"wall", "forward", "backward", "optimizer"};
  if (saves) {
    titles.emplace_back("checkpoint");
  }
  titles.insert(titles.end(), {"exposed", "of wall"});
  if (with_busy) {
    titles.emplace_back("busy");
  }
  Table table = strategy_table(titles);
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const MeanTime& mean = summary.mean;
    std::vector<std::string> row = {row_name(run), figure(mean.wall_s), figure(mean.forward_s),
                                    figure(mean.backward_s), figure(mean.optimizer_s)};
    if (saves) {
      row.push_back(figure(mean.checkpoint_s));
    }
    row.push_back(figure(mean.exposed_s));
    row.push_back(format_percent(mean.exposed_s / mean.wall_s));
    if (with_busy) {
      row.push_back(figure(mean.busy_s));
    }
    table.add_row(std::move(row));
  });
  std::string note = "wall = forward + backward + optimizer + ";
  note += saves ? "checkpoint + exposed. Checkpoint: saving it; " : "exposed. ";
  note += saves ? "exposed: " : "Exposed: ";
  note += "compute waits for communication";
  note += with_busy ? "; busy: communication in flight, hidden or not. " : ". ";
  note += "Each step counts the rank that finishes it last";
  note += any_skips_steps(compared) ? ", skipped steps too." : ".";
  page.section("Time of a step, " + std::string(unit.name) + " (" + steps_of_mean(compared) + ")",
               table, note);
}

void write_hidden_communication(const ComparedRuns& compared, const Unit& unit, Page& page) {
  const auto figure = [&](double seconds) { return significant(seconds / unit.size); };
  Table table = strategy_table({"busy", "exposed", "hidden", "of busy"});
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const MeanTime& mean = summary.mean;
    const double hidden_s = hides_communication(mean) ? mean.hidden_s() : 0;
    table.add_row({row_name(run), figure(mean.busy_s), figure(mean.exposed_s), figure(hidden_s),
                   format_percent(hidden_s / mean.busy_s)});
  });
  page.section("Communication of a step, " + std::string(unit.name), table,
               "Busy: communication in flight. Exposed: compute waits for it; hidden: compute goes "
               "on. Busy = exposed + hidden.");
}

/// What limits is named, or else marked.
Table limits_table(const ComparedRuns& compared, bool names_it) {
  Table table;
  table.add_column("", Align::left);
  if (names_it) {
    table.add_column("limited by", Align::left);
  }
  for (const std::string title :
       {"compute", "memory\nbandwidth", "link\nbandwidth", "link\nlatency", "kernel\nlaunches"}) {
    table.add_column(title, Align::right);
  }
  const bool saves = any_saves(compared);
  if (saves) {
    table.add_column("storage", Align::right);
  }
  const bool offloads = compared.scenario.training.optimizer_on_host;
  if (offloads) {
    table.add_column("host", Align::right);
  }
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    const LimitSummary limits = summarize_limits(run);
    const LimitShare* largest = limits.largest();
    std::vector<std::string> row = {row_name(run)};
    if (names_it) {
      row.emplace_back(largest == nullptr ? "-" : std::string(largest->description));
    }
    for (const LimitShare& share : limits.shares) {
      if (share.name == "storage" && !saves) {
        continue;
      }
      const bool marked = !names_it && largest != nullptr && share.name == largest->name;
      row.push_back((marked ? "* " : "") + format_percent(share.share));
    }
    table.add_row(std::move(row));
  });
  return table;
}

void write_limits(const ComparedRuns& compared, Page& page) {
  const std::string title = "What limits a step (share of the wall that each alone accounts for)";
  const Table table = limits_table(compared, /*names_it=*/true);
  if (table.width() <= page.width()) {
    page.section(title, table);
  } else {
    page.section(title, limits_table(compared, /*names_it=*/false), "* The largest: it limits.");
  }
}

}  // namespace

void write_time(const ComparedRuns& compared, Page& page) {
  const Unit unit = unit_of(compared);
  const bool hides = any_hides_communication(compared);
  write_step_time(compared, unit, /*with_busy=*/!hides, page);
  if (hides) {
    write_hidden_communication(compared, unit, page);
  }
  write_limits(compared, page);
}

}  // namespace shardscope
