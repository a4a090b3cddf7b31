// Aligned columns of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shardscope {

/// Columns of a terminal that reports are made for.
inline constexpr std::size_t kReportWidth = 80;

enum class Align { left, right };

class Table {
 public:
  /// The first column names the rows. A title may have several lines ('\n'); if
  /// all are empty, no line of titles is shown.
  void add_column(const std::string& title, Align align);

  /// One cell per column; aborts on another number.
  void add_row(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  /// Columns of a terminal that it takes in one block.
  std::size_t width() const;

  /// The titles and rows as lines indented by two spaces, without spaces at their ends. Columns
  /// that do not fit in `width` follow in further blocks, an empty line between, each with the
  /// first column again; a block has at least one column beside it, however wide.
  std::string text(std::size_t width = kReportWidth) const;

 private:
  struct Column {
    std::vector<std::string> title;
    Align align;
    std::size_t width;
  };

  std::string block(std::size_t first, std::size_t last) const;
  std::string line(std::size_t first, std::size_t last,
                   const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace shardscope
