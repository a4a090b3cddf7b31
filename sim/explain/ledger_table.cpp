#include "sim/explain/ledger_table.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace shardscope {
namespace {

using Figures = std::vector<std::uint64_t>;

Figures figures_of(const std::vector<LedgerColumn>& columns, std::size_t rank,
                   const std::function<std::uint64_t(const Moment&)>& bytes) {
  Figures figures;
  for (const LedgerColumn& column : columns) {
    figures.push_back(bytes(*column.marks[rank]));
  }
  return figures;
}

std::vector<std::string> row_of(const std::string& name, const Figures& figures) {
  std::vector<std::string> row = {name};
  for (const std::uint64_t bytes : figures) {
    row.push_back(std::to_string(bytes));
  }
  return row;
}

void add_rows(const std::vector<LedgerColumn>& columns, std::string name,
              const std::function<std::uint64_t(const Moment&)>& bytes, FigureTable& table) {
  std::replace(name.begin(), name.end(), '_', ' ');
  const std::size_t ranks = columns.front().marks.size();
  std::vector<Figures> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.push_back(figures_of(columns, rank, bytes));
  }
  if (std::all_of(all.begin(), all.end(), [&](const Figures& f) { return f == all.front(); })) {
    if (*std::max_element(all.front().begin(), all.front().end()) > 0) {
      table.rows.push_back(row_of(name, all.front()));
    }
    return;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    table.rows.push_back(row_of(name + ", rank " + std::to_string(rank), all[rank]));
  }
}

}  // namespace

FigureTable ledger_table(const std::vector<LedgerColumn>& columns) {
  FigureTable table;
  table.titles.emplace_back("section");
  for (const LedgerColumn& column : columns) {
    table.titles.push_back(column.title);
  }
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    add_rows(
        columns, std::string(kCategoryNames[i]),
        [i](const Moment& moment) { return moment.held[i]; }, table);
  }
  add_rows(columns, "all that is held", held_bytes, table);
  add_rows(
      columns, "sent so far", [](const Moment& moment) { return moment.sent_bytes; }, table);
  return table;
}

}  // namespace shardscope
