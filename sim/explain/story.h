// An explained training step as data: what the text and the Markdown both show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace shardscope {

/// One element of the parameters, or of their padding, in the full layout of the shard geometry.
struct Column {
  std::string name;  ///< "W0.3", "b1.0", "pad".
};

struct Hop {
  int round = 0;  ///< From 0.
  int from = 0;
  int to = 0;
  std::vector<int> chunks;  ///< Of which the message has elements.
  bool has_whole = true;    ///< Of each of them all elements.
  bool adds = false;        ///< Else the receiver copies them over its own.

  friend bool operator==(const Hop&, const Hop&) = default;
};

/// Whose elements a row shows: one rank's, those of every rank, which holds the same, or every
/// rank's own chunks.
enum class Holder { one, all, own };

/// One for each column of a story, as far as there is one.
using ElementValues = std::vector<std::optional<float>>;

/// Whether the values are the same bit by bit: a NaN equals itself then, and 0 is not -0.
bool has_same_bits(const ElementValues& a, const ElementValues& b);

/// Elements that ranks hold, or that one sends in a hop.
struct ElementRow {
  char state = 'p';  ///< p parameters, g gradients, w master weights, m and v moments.
  Holder holder = Holder::one;
  int rank = 0;  ///< If it is one.
  std::optional<Hop> hop;
  ElementValues values;

  friend bool operator==(const ElementRow& a, const ElementRow& b) {
    return a.state == b.state && a.holder == b.holder && a.rank == b.rank && a.hop == b.hop &&
           has_same_bits(a.values, b.values);
  }
};

struct ElementTable {
  std::size_t first = 0;  ///< Columns [first, last) of the story.
  std::size_t last = 0;

  /// For each of the story's columns the chunk that it lies in; a chunk ends where it changes.
  /// Empty if nothing is cut.
  std::vector<std::size_t> chunks;
  std::vector<ElementRow> rows;

  friend bool operator==(const ElementTable&, const ElementTable&) = default;
};

/// The first column names the rows.
struct FigureTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

using Block = std::variant<std::string, ElementTable, FigureTable>;

struct Section {
  std::string title;
  std::vector<Block> blocks;  ///< Texts are sentences.
};

/// The step by one strategy.
struct Story {
  std::string title;
  std::string about;
  std::vector<Column> columns;
  std::vector<Section> sections;  ///< Counted from 1.
};

struct Explanation {
  std::string title;
  std::vector<std::string> introduction;
  std::vector<Story> stories;
};

}  // namespace shardscope
