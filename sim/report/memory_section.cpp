#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/ledger.h"
#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

/// Categories as the memory table names them, in the ledger's order.
constexpr std::array<std::string_view, kCategoryCount> kShortNames = {
    "parameters",  "gradients", "master",  "moment 1", "moment 2",
    "activations", "gathered",  "buckets", "inputs"};

/// Figures side by side in a cell, "0.789|0.789", so aligned that the bars of a column stand one
/// below the other.
class Pairs {
 public:
  void add(std::string left, std::string right) {
    left_width_ = std::max(left_width_, left.size());
    right_width_ = std::max(right_width_, right.size());
    pairs_.emplace_back(std::move(left), std::move(right));
  }

  std::string cell(std::size_t index) const {
    const auto& [left, right] = pairs_[index];
    return std::string(left_width_ - left.size(), ' ') + left + (right.empty() ? " " : "|") +
           std::string(right_width_ - right.size(), ' ') + right;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::size_t left_width_ = 0;
  std::size_t right_width_ = 0;
};

std::vector<std::string> row_names() {
  std::vector<std::string> rows(kShortNames.begin(), kShortNames.end());
  rows.insert(rows.begin() + kStateCategoryCount, "all states");
  rows.emplace_back("peak of all");
  return rows;
}

/// The figures of row_names() for one run. What a run that did not complete held is not its state.
Pairs column_of(const RunSummary& summary, const Unit& unit) {
  const FullestRank& memory = summary.memory;
  const auto figure = [&](std::uint64_t bytes) {
    return significant(static_cast<double>(bytes) / unit.size);
  };
  Pairs column;
  for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
    column.add(summary.completed ? figure(memory.state[i]) : "-",
               figure(memory.predicted_state[i]));
  }
  column.add(summary.completed ? figure(state_total(memory.state)) : "-",
             figure(state_total(memory.predicted_state)));
  for (std::size_t i = kStateCategoryCount; i < kCategoryCount; ++i) {
    column.add(figure(memory.peak[i]), "");
  }
  column.add(figure(memory.peak_total), summary.completed ? figure(memory.predicted_peak) : "");
  return column;
}

Unit unit_of(const ComparedRuns& compared) {
  double largest = 0;
  for (const RunSummary& summary : compared.summaries) {
    const double predicted = static_cast<double>(state_total(summary.memory.predicted_state));
    const double peak = static_cast<double>(summary.memory.peak_total);
    largest = std::max({largest, predicted, peak});
  }
  return byte_unit(largest);
}

/// "On the host beside it, per rank: ZERO2 42 GB. " Empty if nothing is there.
std::string host_memory(const ComparedRuns& compared) {
  std::vector<std::string> parts;
  for (const RunResult& run : compared.runs) {
    std::uint64_t most = 0;
    for (const RankResult& rank : run.ranks()) {
      most = std::max<std::uint64_t>(most, rank.host_peak_bytes());
    }
    if (most > 0) {
      parts.push_back(strategy_name(run) + " " + format_bytes(static_cast<double>(most)));
    }
  }
  return parts.empty() ? "" : "On the host beside it, per rank: " + listed(parts) + ". ";
}

std::string notes(const ComparedRuns& compared) {
  return host_memory(compared) +
         agreement(compared, "Model states", &RunSummary::state_difference) +
         agreement(compared, "Peaks", &RunSummary::peak_difference) + "Each device has " +
         format_bytes(static_cast<double>(compared.scenario.device.memory_bytes)) +
         "; 1 MB = 1e6 B. Gathered: parameters gathered for a layer; buckets: communication "
         "buckets. Activations to inputs are at their own peaks, which need not coincide.";
}

}  // namespace

void write_memory(const ComparedRuns& compared, Page& page) {
  const Unit unit = unit_of(compared);
  Table table;
  table.add_column("", Align::left);
  std::vector<Pairs> columns;
  for (std::size_t i = 0; i < compared.runs.size(); ++i) {
    if (compared.runs[i].ranks_size() > 0) {
      table.add_column(head_name(compared.runs[i]), Align::right);
      columns.push_back(column_of(compared.summaries[i], unit));
    }
  }
  if (columns.empty()) {
    return;
  }
  const std::vector<std::string> rows = row_names();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells = {rows[i]};
    for (const Pairs& column : columns) {
      cells.push_back(column.cell(i));
    }
    table.add_row(std::move(cells));
  }
  page.section("Memory of the fullest rank, " + std::string(unit.name) +
                   ": states and peak measured|predicted",
               table, notes(compared));
}

}  // namespace shardscope
