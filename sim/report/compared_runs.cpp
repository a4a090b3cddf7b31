#include "sim/report/compared_runs.h"

#include "sim/text/printable.h"

namespace shardscope {

ComparedRuns compare(const Scenario& scenario, const std::vector<RunResult>& runs) {
  ComparedRuns compared{scenario, runs, {}};
  for (const RunResult& run : runs) {
    compared.summaries.push_back(summarize(run));
  }
  return compared;
}

std::string strategy_name(const RunResult& run) { return printable(run.strategy()); }

Table strategy_table(const std::vector<std::string>& titles) {
  Table table;
  table.add_column("", Align::left);
  for (const std::string& title : titles) {
    table.add_column(title, Align::right);
  }
  return table;
}

std::string agreement(const ComparedRuns& compared, const std::string& what,
                      std::optional<std::string> RunSummary::*difference) {
  bool measured = false;
  for (const RunSummary& summary : compared.summaries) {
    measured = measured || summary.completed;
    if (summary.*difference) {
      return what + " DIFFER from the prediction: " + printable(*(summary.*difference)) + ". ";
    }
  }
  return measured ? what + " equal the prediction to the byte on every rank. " : "";
}

}  // namespace shardscope
