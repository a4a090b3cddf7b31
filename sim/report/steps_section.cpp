#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

/// Six significant digits, one below another where a loss is of ordinary size.
std::string loss_text(const StepResult& step) {
  if (!step.has_loss()) {
    return "-";
  }
  const double loss = step.loss();
  if (!std::isfinite(loss) || loss == 0 || std::abs(loss) >= 1e-3) {
    return significant(loss, 6, 6);
  }
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.4e", loss);
  return text.data();
}

std::string time_text(double seconds, const Unit& unit) {
  return significant(seconds / unit.size, 4, 4);
}

Unit unit_of(const std::vector<RunResult>& runs) {
  double longest = 0;
  for (const RunResult& run : runs) {
    for (const StepResult& step : run.steps()) {
      longest = std::max(longest, step.time().wall_s());
    }
  }
  return time_unit(longest);
}

using Row = std::vector<std::string>;

/// Rows of steps 1, 2, ... with their numbers before them; steps whose rows are equal share one:
/// "2-20".
void add_step_rows(const std::vector<Row>& rows, Table& table) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && rows[end] == rows[first]) {
      ++end;
    }
    Row row = rows[first];
    const std::string step = std::to_string(first + 1);
    row.insert(row.begin(), end == first + 1 ? step : step + "-" + std::to_string(end));
    table.add_row(std::move(row));
    first = end;
  }
}

/// Loss and the time split side by side.
Table single_run_table(const RunResult& run, const Unit& unit) {
  Table table;
  for (const std::string title :
       {"step", "loss", "grad norm", "wall", "forward", "backward", "optimizer", "exposed"}) {
    table.add_column(title, Align::right);
  }
  std::vector<Row> rows;
  for (const StepResult& step : run.steps()) {
    const TimeSplit& time = step.time();
    const auto figure = [&](double seconds) { return time_text(seconds, unit); };
    rows.push_back({loss_text(step),
                    step.has_grad_norm() ? significant(step.grad_norm(), 4, 6) : "-",
                    figure(time.wall_s()), figure(time.forward_s()), figure(time.backward_s()),
                    figure(time.optimizer_s()), figure(time.exposed_communication_s())});
  }
  add_step_rows(rows, table);
  return table;
}

/// One column per run; "-" where a run had ended.
template <typename Cell>
Table table_of(const std::vector<RunResult>& runs, Cell cell) {
  int most_steps = 0;
  Table table;
  table.add_column("step", Align::right);
  for (const RunResult& run : runs) {
    table.add_column(strategy_name(run), Align::right);
    most_steps = std::max(most_steps, run.steps_size());
  }
  std::vector<Row> rows(static_cast<std::size_t>(most_steps));
  for (int i = 0; i < most_steps; ++i) {
    for (const RunResult& run : runs) {
      rows[static_cast<std::size_t>(i)].push_back(i < run.steps_size() ? cell(run.steps(i)) : "-");
    }
  }
  add_step_rows(rows, table);
  return table;
}

}  // namespace

void write_steps(const ComparedRuns& compared, Page& page) {
  const Unit unit = unit_of(compared.runs);
  const std::string unit_name(unit.name);
  if (compared.runs.size() == 1) {
    page.section("Every step: loss, and times in " + unit_name,
                 single_run_table(compared.runs.front(), unit));
    return;
  }
  if (compared.scenario.training.storage == Storage::real) {
    page.section("Loss of every step", table_of(compared.runs, loss_text));
  }
  page.section("Time of every step, " + unit_name,
               table_of(compared.runs, [&](const StepResult& step) {
                 return time_text(step.time().wall_s(), unit);
               }));
}

}  // namespace shardscope
