#include "sim/explain/element_lines.h"

#include <algorithm>

#include "sim/explain/number_text.h"

namespace shardscope {
namespace {

// "p rank 0", "p all", "p own", "r1 0>1 +".
std::string label_of(const ElementRow& row) {
  if (row.hop.has_value()) {
    return "r" + std::to_string(row.hop->round + 1) + " " + std::to_string(row.hop->from) + ">" +
           std::to_string(row.hop->to) + (row.hop->adds ? " +" : " =");
  }
  std::string state(1, row.state);
  switch (row.holder) {
    case Holder::one:
      return state + " rank " + std::to_string(row.rank);
    case Holder::all:
      return state + " all";
    case Holder::own:
      return state + " own";
  }
  return state;
}

std::string left(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

class Lines {
 public:
  Lines(const ElementTable& table, const std::vector<Column>& columns)
      : table_(table), columns_(columns) {
    for (const ElementRow& row : table.rows) {
      label_ = std::max(label_, label_of(row).size() + 1);
      for (std::size_t i = table.first; i < table.last; ++i) {
        cell_ = std::max(cell_, cell_text(row, i).size());
      }
    }
    for (std::size_t i = table.first; i < table.last; ++i) {
      cell_ = std::max(cell_, columns[i].name.size());
    }
  }

  // The end of a block that begins with column `first`.
  std::size_t block_end(std::size_t first, std::size_t width) const {
    const std::size_t space = width - std::min(width, label_ + 1);
    const std::size_t fitting = std::max<std::size_t>(space / (cell_ + 1), 1);
    const std::size_t most = std::min(first + fitting, table_.last);
    std::size_t end = most;
    while (end < table_.last && end > first && !is_cut(table_, end)) {
      --end;
    }
    return end > first ? end : most;
  }

  std::string block(std::size_t first, std::size_t last) const {
    std::string lines = title_line(first, last);
    for (const ElementRow& row : table_.rows) {
      const auto begin = row.values.begin();
      if (std::any_of(begin + static_cast<std::ptrdiff_t>(first),
                      begin + static_cast<std::ptrdiff_t>(last),
                      [](const std::optional<float>& value) { return value.has_value(); })) {
        lines += line(row, first, last);
      }
    }
    return lines;
  }

 private:
  static std::string cell_text(const ElementRow& row, std::size_t column) {
    return row.values[column].has_value() ? element_text(*row.values[column]) : "";
  }

  std::string title_line(std::size_t first, std::size_t last) const {
    std::string text(label_, ' ');
    for (std::size_t i = first; i < last; ++i) {
      text += " " + right(columns_[i].name, cell_);
    }
    return text + "\n";
  }

  std::string line(const ElementRow& row, std::size_t first, std::size_t last) const {
    std::string text = left(label_of(row), label_);
    for (std::size_t i = first; i < last; ++i) {
      text += border(row, i, first, last) + right(cell_text(row, i), cell_);
    }
    text += border(row, last, first, last);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  // What stands before the column.
  char border(const ElementRow& row, std::size_t column, std::size_t first,
              std::size_t last) const {
    const bool before = column > first && row.values[column - 1].has_value();
    const bool after = column < last && row.values[column].has_value();
    if (before && after) {
      return is_cut(table_, column) ? '|' : ' ';
    }
    return before ? ']' : after ? '[' : ' ';
  }

  const ElementTable& table_;
  const std::vector<Column>& columns_;
  std::size_t label_ = 0;
  std::size_t cell_ = 0;
};

}  // namespace

std::string element_lines(const ElementTable& table, const std::vector<Column>& columns,
                          std::size_t width) {
  const Lines lines(table, columns);
  std::string text;
  for (std::size_t first = table.first; first < table.last;) {
    const std::size_t end = lines.block_end(first, width);
    text += (text.empty() ? "" : "\n") + lines.block(first, end);
    first = end;
  }
  return text;
}

bool is_cut(const ElementTable& table, std::size_t index) {
  return !table.chunks.empty() && table.chunks[index - 1] != table.chunks[index];
}

}  // namespace shardscope
