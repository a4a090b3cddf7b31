#include "sim/explain/text.h"

#include "sim/explain/element_lines.h"
#include "sim/report/page.h"

namespace shardscope {
namespace {

Table figures(const FigureTable& figures) {
  Table table;
  for (std::size_t i = 0; i < figures.titles.size(); ++i) {
    table.add_column(figures.titles[i], i == 0 ? Align::left : Align::right);
  }
  for (const std::vector<std::string>& row : figures.rows) {
    table.add_row(row);
  }
  return table;
}

void write_block(const Block& block, const Story& story, std::size_t width, Page& page) {
  if (const auto* sentence = std::get_if<std::string>(&block)) {
    page.paragraph(*sentence);
  } else if (const auto* elements = std::get_if<ElementTable>(&block)) {
    page.lines(element_lines(*elements, story.columns, width));
  } else {
    page.lines(figures(std::get<FigureTable>(block)).text(width));
  }
}

// How this form abbreviates.
constexpr const char* kLegend =
    "all: every rank holds the same; own: each its chunk. r1 0>1 +: in round 1 rank 0 sends this "
    "to rank 1, which adds it to its own (=: copies it).";

void write_story(const Story& story, std::size_t width, Page& page) {
  page.heading(story.title);
  page.paragraph(story.about);
  for (std::size_t i = 0; i < story.sections.size(); ++i) {
    page.heading(std::to_string(i + 1) + ". " + story.sections[i].title);
    for (const Block& block : story.sections[i].blocks) {
      write_block(block, story, width, page);
    }
  }
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const TextOptions& options) {
  Page page(options.colour, options.width);
  page.paragraph(explanation.title, Style::bold);
  for (const std::string& paragraph : explanation.introduction) {
    page.paragraph(paragraph, Style::dim);
  }
  page.paragraph(kLegend, Style::dim);
  for (const Story& story : explanation.stories) {
    write_story(story, options.width, page);
  }
  return page.text();
}

}  // namespace shardscope
