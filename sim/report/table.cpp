#include "sim/report/table.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;

/// None for an empty text.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(text.empty() ? 0 : 1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string spaces(width - display_width(text), ' ');
  return align == Align::left ? text + spaces : spaces + text;
}

}  // namespace

void Table::add_column(const std::string& title, Align align) {
  Column column = {lines_of(title), align, 0};
  for (const std::string& line : column.title) {
    column.width = std::max(column.width, display_width(line));
  }
  columns_.push_back(std::move(column));
}

void Table::add_row(std::vector<std::string> cells) {
  SHARDSCOPE_CHECK(cells.size() == columns_.size(), "a row with another number of cells");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns_[i].width = std::max(columns_[i].width, display_width(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::size_t Table::width() const {
  std::size_t width = kIndent + columns_.front().width;
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    width += kGap + columns_[i].width;
  }
  return width;
}

std::string Table::text(std::size_t width) const {
  std::string result;
  std::size_t first = 1;
  do {
    std::size_t used = kIndent + columns_.front().width;
    std::size_t last = first;
    while (last < columns_.size() &&
           (last == first || used + kGap + columns_[last].width <= width)) {
      used += kGap + columns_[last].width;
      ++last;
    }
    result += (first == 1 ? "" : "\n") + block(first, last);
    first = last;
  } while (first < columns_.size());
  return result;
}

std::string Table::block(std::size_t first, std::size_t last) const {
  std::size_t title_lines = columns_.front().title.size();
  for (std::size_t i = first; i < last; ++i) {
    title_lines = std::max(title_lines, columns_[i].title.size());
  }
  std::string result;
  for (std::size_t i = 0; i < title_lines; ++i) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) {  // The last lines of all titles stand side by side.
      const std::size_t missing = title_lines - std::min(title_lines, column.title.size());
      titles.push_back(i < missing ? "" : column.title[i - missing]);
    }
    result += line(first, last, titles);
  }
  for (const std::vector<std::string>& row : rows_) {
    result += line(first, last, row);
  }
  return result;
}

std::string Table::line(std::size_t first, std::size_t last,
                        const std::vector<std::string>& cells) const {
  std::string result = std::string(kIndent, ' ') +
                       padded(cells.front(), columns_.front().width, columns_.front().align);
  for (std::size_t i = first; i < last; ++i) {
    result += std::string(kGap, ' ') + padded(cells[i], columns_[i].width, columns_[i].align);
  }
  result.erase(result.find_last_not_of(' ') + 1);
  return result + "\n";
}

}  // namespace shardscope
