// The runs that a report compares, with what all of its sections need of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "sim/result/result.pb.h"

namespace shardscope {

struct Scenario;

struct ComparedRuns {
  const Scenario& scenario;
  const std::vector<RunResult>& runs;
  std::vector<RunSummary> summaries;  ///< Of the runs, in their order.
};

/// Summarizes the runs. Both arguments must outlive the result.
ComparedRuns compare(const Scenario& scenario, const std::vector<RunResult>& runs);

/// Its name, fit for a terminal.
std::string strategy_name(const RunResult& run);

/// The same, short enough to name a row of a table.
std::string row_name(const RunResult& run);

/// The same over a column: in several lines where it is long, broken after an underscore.
std::string head_name(const RunResult& run);

/// The option's value in the strategy's preset; empty if that has no such option.
std::string default_option(const RunResult& run, const std::string& option);

/// A first column for strategies and one for each of the titles.
Table strategy_table(const std::vector<std::string>& titles);

/// "Model states equal the prediction ...", where they first do not, or nothing if no run
/// completed. `difference` is one of RunSummary's.
std::string agreement(const ComparedRuns& compared, const std::string& what,
                      std::optional<std::string> RunSummary::*difference);

/// Calls f(run, summary) for the runs that completed.
template <typename F>
void for_completed(const ComparedRuns& compared, F&& f) {
  for (std::size_t i = 0; i < compared.runs.size(); ++i) {
    if (compared.summaries[i].completed) {
      f(compared.runs[i], compared.summaries[i]);
    }
  }
}

}  // namespace shardscope
