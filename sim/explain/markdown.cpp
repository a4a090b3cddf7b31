#include "sim/explain/markdown.h"

#include <string_view>
#include <vector>

#include "sim/explain/element_lines.h"
#include "sim/explain/number_text.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

// What Markdown or HTML would take for markup, as in a scenario's name or "v * g".
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>#|~$&!").find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string row_text(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += " " + escaped(cell) + (cell.empty() ? "|" : " |");
  }
  return text + "\n";
}

std::string title_text(const std::vector<std::string>& titles) {
  std::string text = row_text(titles) + "|---|";
  for (std::size_t i = 1; i < titles.size(); ++i) {
    text += "--:|";
  }
  return text + "\n";
}

// "chunk 1", "chunks 0 and 2", "a part of chunk 1", "parts of chunks 0 and 1".
std::string chunks_text(const Hop& hop) {
  const bool one = hop.chunks.size() == 1;
  std::vector<std::string> names;
  for (const int chunk : hop.chunks) {
    names.push_back(std::to_string(chunk));
  }
  const std::string part = hop.has_whole ? "" : one ? "a part of " : "parts of ";
  return part + (one ? "chunk " : "chunks ") + listed(names);
}

// "round 1, rank 0 sends chunk 1 to rank 1, which adds it", "p of rank 0", "p of all ranks",
// "p, each rank its own".
std::string label_of(const ElementRow& row) {
  if (row.hop.has_value()) {
    const Hop& hop = *row.hop;
    return "round " + std::to_string(hop.round + 1) + ", rank " + std::to_string(hop.from) +
           " sends " + chunks_text(hop) + " to rank " + std::to_string(hop.to) +
           (hop.adds ? ", which adds " : ", which copies ") +
           (hop.chunks.size() == 1 ? "it" : "them");
  }
  std::string state(1, row.state);
  switch (row.holder) {
    case Holder::one:
      return state + " of rank " + std::to_string(row.rank);
    case Holder::all:
      return state + " of all ranks";
    case Holder::own:
      return state + ", each rank its own";
  }
  return state;
}

// The element with the brackets of the chunk that begins or ends with it.
std::string cell_text(const ElementTable& table, const ElementRow& row, std::size_t i) {
  if (!row.values[i].has_value()) {
    return "";
  }
  const auto ends_at = [&](std::size_t border, std::size_t other) {
    return border == table.first || border == table.last || !row.values[other].has_value() ||
           is_cut(table, border);
  };
  return (ends_at(i, i - 1) ? "[" : "") + element_text(*row.values[i]) +
         (ends_at(i + 1, i + 1) ? "]" : "");
}

std::string elements_text(const ElementTable& table, const std::vector<Column>& columns) {
  std::vector<std::string> titles = {""};
  for (std::size_t i = table.first; i < table.last; ++i) {
    titles.push_back(columns[i].name);
  }
  std::string text = title_text(titles);
  for (const ElementRow& row : table.rows) {
    std::vector<std::string> cells = {label_of(row)};
    for (std::size_t i = table.first; i < table.last; ++i) {
      cells.push_back(cell_text(table, row, i));
    }
    text += row_text(cells);
  }
  return text;
}

std::string figures_text(const FigureTable& table) {
  std::string text = title_text(table.titles);
  for (const std::vector<std::string>& row : table.rows) {
    text += row_text(row);
  }
  return text;
}

std::string block_text(const Block& block, const Story& story) {
  if (const auto* sentence = std::get_if<std::string>(&block)) {
    return escaped(*sentence) + "\n";
  }
  if (const auto* elements = std::get_if<ElementTable>(&block)) {
    return elements_text(*elements, story.columns);
  }
  return figures_text(std::get<FigureTable>(block));
}

std::string story_text(const Story& story) {
  std::string text = "\n## " + escaped(story.title) + "\n\n" + escaped(story.about) + "\n";
  for (std::size_t i = 0; i < story.sections.size(); ++i) {
    text += "\n### " + std::to_string(i + 1) + ". " + escaped(story.sections[i].title) + "\n";
    for (const Block& block : story.sections[i].blocks) {
      text += "\n" + block_text(block, story);
    }
  }
  return text;
}

}  // namespace

std::string explanation_markdown(const Explanation& explanation) {
  std::string text = "# " + escaped(explanation.title) + "\n";
  for (const std::string& paragraph : explanation.introduction) {
    text += "\n" + escaped(paragraph) + "\n";
  }
  for (const Story& story : explanation.stories) {
    text += story_text(story);
  }
  return text;
}

}  // namespace shardscope
