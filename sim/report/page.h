// The page that a text report is written on: headings, paragraphs and tables, 80 columns wide
// unless another width is wanted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/report/table.h"

namespace shardscope {

enum class Style { plain, bold, dim, red };

class Page {
 public:
  /// Styles are ANSI escapes, left out without colour.
  explicit Page(bool colour, std::size_t width = kReportWidth) : colour_(colour), width_(width) {}

  std::size_t width() const { return width_; }

  void empty_line() { text_ += "\n"; }

  /// Words in as many lines as they need, each indented.
  void paragraph(const std::string& words, Style style = Style::plain, std::size_t indent = 0);

  /// An empty line and a title.
  void heading(const std::string& title);

  /// A heading, a table and a note below it (if any); nothing if the table is empty.
  void section(const std::string& title, const Table& table, const std::string& note = "");

  /// Lines that are laid out already.
  void lines(const std::string& lines) { text_ += lines; }

  /// "  key       value", the value's lines one below another.
  void entry(const std::string& key, const std::string& value);

  /// All that was written.
  const std::string& text() const { return text_; }

 private:
  bool colour_;
  std::size_t width_;
  std::string text_;
};

}  // namespace shardscope
