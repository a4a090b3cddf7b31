#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// Of the steps that were run; those before it were run by what was resumed.
std::int64_t first_step(const std::vector<RunResult>& runs) {
  for (const RunResult& run : runs) {
    if (!run.steps().empty()) {
      return run.steps(0).step();
    }
  }
  return 1;
}

/// Rows of consecutive steps with their numbers before them; steps whose rows are equal share one:
/// "2-20".
void add_step_rows(const std::vector<Row>& rows, std::int64_t first_number, Table& table) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && rows[end] == rows[first]) {
      ++end;
    }
    Row row = rows[first];
    const auto number = [&](std::size_t row_index) {
      return std::to_string(first_number + static_cast<std::int64_t>(row_index));
    };
    row.insert(row.begin(),
               end == first + 1 ? number(first) : number(first) + "-" + number(end - 1));
    table.add_row(std::move(row));
    first = end;
  }
}

/// "2^16" where it is a power of two.
std::string scale_text(double scale) {
  int exponent = 0;
  const bool is_power = std::frexp(scale, &exponent) == 0.5;
  return is_power && exponent != 1 ? "2^" + std::to_string(exponent - 1)
                                   : trimmed_significant(scale, 6, 6);
}

bool has_dynamic_scale(const ComparedRuns& compared) {
  return compared.scenario.training.dynamic_loss_scale.has_value();
}

/// Marks skipped steps; where any is, the others have a space, so that figures stay aligned.
std::string marked(const std::string& figure, const StepResult& step, bool any_skipped) {
  return any_skipped ? figure + (step.skipped() ? "*" : " ") : figure;
}

bool any_skipped(const ComparedRuns& compared) {
  return std::any_of(compared.summaries.begin(), compared.summaries.end(),
                     [](const auto& summary) { return !summary.skipped_steps.empty(); });
}

/// The note below a table with marks.
std::string mark_note(const ComparedRuns& compared) {
  return any_skipped(compared) ? "* Skipped: gradients overflowed, and nothing was updated." : "";
}

/// Loss and the time split side by side.
Table single_run_table(const ComparedRuns& compared, const Unit& unit) {
  const bool has_scale = has_dynamic_scale(compared);
  Table table;
  std::vector<std::string> titles = {"step",    "loss",     "grad norm", "wall",
                                     "forward", "backward", "optimizer", "exposed"};
  if (has_scale) {
    titles[2] = "grad\nnorm";
    titles.insert(titles.begin() + 1, "scale");
  }
  for (const std::string& title : titles) {
    table.add_column(title, Align::right);
  }
  const bool marks = any_skipped(compared);
  std::vector<Row> rows;
  for (const StepResult& step : compared.runs.front().steps()) {
    const TimeSplit& time = step.time();
    const auto figure = [&](double seconds) { return time_text(seconds, unit); };
    rows.push_back({loss_text(step),
                    step.has_grad_norm() ? significant(step.grad_norm(), 4, 6) : "-",
                    figure(time.wall_s()), figure(time.forward_s()), figure(time.backward_s()),
                    figure(time.optimizer_s()), figure(time.exposed_communication_s())});
    if (has_scale) {
      rows.back().insert(rows.back().begin(), marked(scale_text(step.loss_scale()), step, marks));
    }
  }
  add_step_rows(rows, first_step(compared.runs), table);
  return table;
}

/// One column per run; "-" where a run had ended.
template <typename Cell>
Table table_of(const std::vector<RunResult>& runs, Cell cell) {
  int most_steps = 0;
  Table table;
  table.add_column("step", Align::right);
  for (const RunResult& run : runs) {
    table.add_column(head_name(run), Align::right);
    most_steps = std::max(most_steps, run.steps_size());
  }
  std::vector<Row> rows(static_cast<std::size_t>(most_steps));
  for (int i = 0; i < most_steps; ++i) {
    for (const RunResult& run : runs) {
      rows[static_cast<std::size_t>(i)].push_back(i < run.steps_size() ? cell(run.steps(i)) : "-");
    }
  }
  add_step_rows(rows, first_step(runs), table);
  return table;
}

}  // namespace

void write_steps(const ComparedRuns& compared, Page& page) {
  const Unit unit = unit_of(compared.runs);
  const std::string unit_name(unit.name);
  if (compared.runs.size() == 1) {
    page.section("Every step: loss, and times in " + unit_name, single_run_table(compared, unit),
                 mark_note(compared));
    return;
  }
  const bool marks = any_skipped(compared);
  if (compared.scenario.training.storage == Storage::real) {
    page.section(
        "Loss of every step",
        table_of(compared.runs,
                 [&](const StepResult& step) { return marked(loss_text(step), step, marks); }),
        mark_note(compared));
  }
  if (has_dynamic_scale(compared)) {
    page.section("Loss scale of every step",
                 table_of(compared.runs,
                          [&](const StepResult& step) {
                            return marked(scale_text(step.loss_scale()), step, marks);
                          }),
                 mark_note(compared));
  }
  page.section("Time of every step, " + unit_name,
               table_of(compared.runs,
                        [&](const StepResult& step) {
                          return marked(time_text(step.time().wall_s(), unit), step, marks);
                        }),
               mark_note(compared));
}

}  // namespace shardscope
