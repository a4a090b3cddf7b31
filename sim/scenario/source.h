// Where things stand in a Protobuf text-format file: each field, its values as they were written,
// and their places. Protobuf's own parser decides what a file means; this says where, in more
// detail than the parser keeps, so that a fault can point at the value it is about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// Line and column count from 1; a column is one byte.
struct Position {
  int line = 1;
  int column = 1;
};

struct SourceValue {
  std::string text;  ///< As written, quotes included.
  Position position;
};

struct SourceField {
  std::string name;
  int parent = -1;    ///< Index of the field whose block this one stands in; -1 at the top.
  Position position;  ///< Of the name.
  /// Bytes [begin, end) of the text: from the name to the value's end, a separator after it
  /// included.
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_block = false;            ///< name { ... }, or a list of blocks.
  bool is_list = false;             ///< name: [ ... ]
  std::vector<SourceValue> values;  ///< One, or a list's elements; none for a block.
};

struct Source {
  /// In order of appearance. What follows a syntax error may be missing or wrong.
  std::vector<SourceField> fields;
  /// Deepest nesting of braces and brackets, and where it exceeds kDeepestNesting first.
  int deepest = 0;
  Position too_deep;
};

/// More nesting than this is refused before Protobuf's recursive parser sees it.
inline constexpr int kDeepestNesting = 50;

/// Never fails. Fields inside nesting deeper than kDeepestNesting are left out.
Source scan_source(std::string_view text);

/// The place of a token that Protobuf's tokenizer put at `line` and `column` (both from 0; a tab
/// advances the column to the next multiple of 8).
Position position_of_token(std::string_view text, int line, int column);

}  // namespace shardscope
