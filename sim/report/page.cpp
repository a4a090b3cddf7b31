#include "sim/report/page.h"

#include "sim/report/format.h"

namespace shardscope {
namespace {

std::string_view escape_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::red:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

void Page::paragraph(const std::string& words, Style style, std::size_t indent) {
  std::string lines = wrapped(words, width_, std::string(indent, ' '), indent);
  if (colour_ && style != Style::plain) {
    lines.pop_back();
    lines.insert(0, escape_of(style)).append("\x1b[0m\n");
  }
  text_ += lines;
}

void Page::heading(const std::string& title) {
  empty_line();
  paragraph(title, Style::bold);
}

void Page::section(const std::string& title, const Table& table, const std::string& note) {
  if (table.empty()) {
    return;
  }
  heading(title);
  text_ += table.text(width_);
  if (!note.empty()) {
    paragraph(note, Style::dim, 2);
  }
}

void Page::entry(const std::string& key, const std::string& value) {
  constexpr std::size_t kValueColumn = 12;
  std::string first = "  " + key;
  first.resize(kValueColumn, ' ');
  text_ += wrapped(value, width_, first, kValueColumn);
}

}  // namespace shardscope
