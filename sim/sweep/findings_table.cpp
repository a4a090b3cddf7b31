#include "sim/sweep/findings_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/report/format.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostColumns = 6;
constexpr std::size_t kMostRows = 6;

// A row's findings by the index of their column.
using Cells = std::map<std::size_t, std::vector<const Finding*>>;

class FindingsTable {
 public:
  FindingsTable(const Sweep& sweep, std::size_t axis) : sweep_(sweep), axis_(axis) {}

  void add(const Finding& finding) {
    const std::string row = row_name(finding);
    if (std::find(rows_.begin(), rows_.end(), row) == rows_.end()) {
      rows_.push_back(row);
    }
    cells_[row][column_of(finding)].push_back(&finding);
    if (is_anywhere(finding)) {
      note_ = "any: " + printable(any_value_words(sweep_.axes[axis_], finding)) + ".";
    }
  }

  Table table() const {
    Table table;
    if (rows_.empty()) {
      return table;
    }
    const bool wide = combinations() <= kMostColumns;
    table.add_column(wide ? other_axes() : "", Align::left);
    for (std::size_t column = 0; column < (wide ? combinations() : 1); ++column) {
      table.add_column(wide ? column_title(column) : "", Align::right);
    }
    for (std::size_t i = 0; i < std::min(rows_.size(), kMostRows); ++i) {
      const std::string& row = rows_[i];
      std::vector<std::string> line = {row};
      const Cells& cells = cells_.at(row);
      for (std::size_t column = 0; wide && column < combinations(); ++column) {
        line.push_back(cells.contains(column) ? places(cells.at(column)) : "-");
      }
      if (!wide) {
        line.push_back(spread(cells));
      }
      table.add_row(std::move(line));
    }
    return table;
  }

  const std::string& note() const { return note_; }

  std::size_t left_out() const { return rows_.size() - std::min(rows_.size(), kMostRows); }

 private:
  // Of the other axes' values.
  std::size_t combinations() const {
    return sweep_.point_count() / sweep_.axes[axis_].values.size();
  }

  std::string row_name(const Finding& finding) const {
    const std::string& first = sweep_.strategies[finding.strategies[0]];
    switch (finding.kind) {
      case FindingKind::overtakes:
        return first + " overtakes " + sweep_.strategies[finding.strategies[1]] +
               (finding.leads ? " *" : "");
      case FindingKind::communication_exceeds_compute:
        return first + (finding.above ? ", above" : ", below");
      default:
        return first;
    }
  }

  std::size_t column_of(const Finding& finding) const {
    std::size_t column = 0;
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
      if (a != axis_) {
        column = column * sweep_.axes[a].values.size() + finding.fixed[a].value_or(0);
      }
    }
    return column;
  }

  // A line for each of the other axes.
  std::string other_axes() const {
    std::string title;
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
      if (a != axis_) {
        title += (title.empty() ? "" : "\n") + sweep_.axes[a].field.path;
      }
    }
    return title;
  }

  // Their values, in the same order.
  std::string column_title(std::size_t column) const {
    std::string title;
    for (std::size_t a = sweep_.axes.size(); a-- > 0;) {
      if (a != axis_) {
        const std::vector<AxisValue>& values = sweep_.axes[a].values;
        const std::string text = printable(values[column % values.size()].text);
        title = title.empty() ? text : text + "\n" + title;
        column /= values.size();
      }
    }
    return title;
  }

  std::string place(const Finding& finding) const {
    return is_anywhere(finding) ? "any"
                                : printable(axis_number_text(sweep_.axes[axis_], finding.at));
  }

  bool is_anywhere(const Finding& finding) const {
    return finding.kind == FindingKind::saturates && holds_from_the_first(sweep_, finding);
  }

  std::string places(const std::vector<const Finding*>& findings) const {
    std::string text;
    for (const Finding* finding : findings) {
      text += (text.empty() ? "" : ", ") + place(*finding);
    }
    return text;
  }

  std::string spread(const Cells& cells) const {
    const Finding* least = cells.begin()->second.front();
    const Finding* largest = least;
    for (const auto& [column, findings] : cells) {
      for (const Finding* finding : findings) {
        least = finding->at < least->at ? finding : least;
        largest = finding->at > largest->at ? finding : largest;
      }
    }
    return place(*least) + (least->at == largest->at ? "" : " to " + place(*largest)) + ", in " +
           format_count(cells.size()) + " of " + format_count(combinations());
  }

  const Sweep& sweep_;
  std::size_t axis_;
  std::vector<std::string> rows_;  // In the order in which they were found.
  std::map<std::string, Cells> cells_;
  std::string note_;
};

}  // namespace

TableOfFindings findings_table(const Sweep& sweep, const std::vector<Finding>& findings,
                               std::size_t axis, FindingKind kind) {
  FindingsTable table(sweep, axis);
  for (const Finding& finding : findings) {
    if (finding.kind == kind && finding.axis == axis) {
      table.add(finding);
    }
  }
  return {table.table(), table.left_out(), table.note()};
}

}  // namespace shardscope
