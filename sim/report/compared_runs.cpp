#include "sim/report/compared_runs.h"

#include <algorithm>

#include "core/training/strategy.h"
#include "sim/scenario/strategy_options.h"
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

std::string row_name(const RunResult& run) {
  // Beside it, no table of eight columns would fit into 80.
  return run.strategy() == "ZERO_REDUNDANCY_OPTIMIZER" ? "ZERO_REDUNDANCY" : strategy_name(run);
}

std::string head_name(const RunResult& run) {
  constexpr std::size_t kWidest = 12;
  const std::string name = strategy_name(run);
  std::string lines;
  std::size_t line = 0;  // Characters of the last line.
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('_', begin), name.size() - 1) + 1;
    if (line > 0 && line + (end - begin) > kWidest) {
      lines += '\n';
      line = 0;
    }
    lines += name.substr(begin, end - begin);
    line += end - begin;
    begin = end;
  }
  return lines;
}

std::string default_option(const RunResult& run, const std::string& option) {
  const Strategy* preset = find_strategy(run.strategy());
  if (preset == nullptr) {
    return "";
  }
  for (const auto& [name, value] : options_of(*preset, run.world_size())) {
    if (name == option) {
      return value;
    }
  }
  return "";
}

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
