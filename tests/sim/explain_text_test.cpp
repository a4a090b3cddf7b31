// How an explanation is shown: its size, its two forms, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "sim/explain/limits.h"
#include "sim/explain/markdown.h"
#include "sim/explain/number_text.h"
#include "sim/explain/text.h"
#include "sim/report/format.h"
#include "tests/sim/explained.h"

namespace shardscope::testing {
namespace {

const std::string kAll = "strategies=DDP,NAIVE_ZERO,ZERO1,ZERO2,ZERO3";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// ---- The size ----

TEST(ExplainText, FitsTwoScreensOf50LinesAnd80Columns) {
  for (const char* strategy : {"DDP", "ZERO1", "ZERO3"}) {
    const Explained explained({std::string("strategies=") + strategy});
    const std::vector<std::string> lines = lines_of(explanation_text(explained.explanation, {}));
    EXPECT_LE(lines.size(), 100U) << strategy;
    for (const std::string& line : lines) {
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
}

TEST(ExplainText, FitsANarrowTerminal) {
  const Explained explained({kAll, "cluster.world_size=4"}, 2);
  for (const std::size_t width : {40U, 60U, 80U}) {
    for (const std::string& line :
         lines_of(explanation_text(explained.explanation, {.width = width}))) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
  }
}

TEST(ExplainText, HasColoursOnlyIfTheyAreWanted) {
  const Explained explained({kAll});
  EXPECT_EQ(explanation_text(explained.explanation, {}).find('\x1b'), std::string::npos);
  EXPECT_NE(explanation_text(explained.explanation, {.colour = true}).find('\x1b'),
            std::string::npos);
}

// ---- Two forms, the same facts ----

// Lines of facts in words that both forms lead to: headings, sentences, and for a row of a table
// its label and then "W0.1=[0.123" for each element.
using Facts = std::vector<std::string>;

// "r1 0>1 +" as the Markdown says it, without the chunk; other labels are the same in both.
std::string label_fact(const std::string& label) {
  std::istringstream words(label);
  std::string first;
  std::string second;
  std::string third;
  words >> first >> second >> third;
  if (first.front() == 'r' && second.size() == 3) {
    return "round " + first.substr(1) + ", rank " + second[0] + " to rank " + second[2] +
           (third == "+" ? ", adds" : ", copies");
  }
  return second == "rank" ? first + " of rank " + third
                          : first + (second == "all" ? " of all ranks" : ", each rank its own");
}

std::string label_fact_of_markdown(const std::string& label) {
  if (label.rfind("round", 0) != 0) {
    return label;
  }
  std::istringstream words(label);
  std::string round;
  std::string number;
  std::string word;
  std::string from;
  std::string to;
  words >> round >> number >> word >> from >> word >> word >> word >> word >> word >> to;
  return "round " + number + " rank " + from + " to rank " + to.substr(0, 1) +
         (label.find("adds") != std::string::npos ? ", adds" : ", copies");
}

bool is_title_of_elements(const std::string& line) {
  const std::string title = trimmed(line).substr(0, 3);
  return line.rfind("    ", 0) == 0 && title.size() == 3 &&
         (title == "pad" || ((title[0] == 'W' || title[0] == 'b') && title[2] == '.'));
}

// The facts of a table whose titles end where its cells end.
void read_elements(const std::vector<std::string>& lines, std::size_t& i, Facts& facts) {
  const std::string titles = lines[i];
  std::vector<std::size_t> ends;
  for (std::size_t c = 1; c <= titles.size(); ++c) {
    if (titles[c - 1] != ' ' && (c == titles.size() || titles[c] == ' ')) {
      ends.push_back(c);
    }
  }
  // Of a cell and what stands before it.
  const std::size_t width = ends.size() > 1 ? ends[1] - ends[0] : ends[0] - lines[i + 1].find('[');
  for (++i; i < lines.size() && lines[i].find('[') != std::string::npos &&
            lines[i].find_first_of("[|") >= 5;
       ++i) {
    const std::string line = lines[i] + std::string(200, ' ');
    const std::size_t label_end = ends.front() - width;
    std::string fact = label_fact(line.substr(0, label_end));
    for (const std::size_t end : ends) {
      const std::string value = trimmed(line.substr(end - width + 1, width - 1));
      if (!value.empty()) {
        const char before = line[end - width];
        const char after = line[end];
        fact += " " + trimmed(titles.substr(end - width + 1, width - 1)) + "=" +
                (before == '[' || before == '|' ? "[" : "") + value +
                (after == ']' || after == '|' ? "]" : "");
      }
    }
    facts.push_back(fact);
  }
}

// A row of figures has more than one space between its cells.
std::string squeezed(const std::string& line) {
  std::string text;
  for (const char c : trimmed(line)) {
    if (c != ' ' || text.back() != ' ') {
      text += c;
    }
  }
  return text;
}

Facts facts_of_text(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  Facts facts;
  for (std::size_t i = 0; i < lines.size();) {
    if (is_title_of_elements(lines[i])) {
      read_elements(lines, i, facts);
      continue;
    }
    if (!lines[i].empty() && lines[i].rfind("all: ", 0) != 0) {  // The legend of abbreviations.
      facts.push_back(squeezed(lines[i]));
    }
    ++i;
  }
  return facts;
}

std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    i += text[i] == '\\' ? 1 : 0;
    result += text[i];
  }
  return result;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 1;
  for (std::size_t end; (end = line.find('|', begin)) != std::string::npos; begin = end + 1) {
    cells.push_back(trimmed(unescaped(line.substr(begin, end - begin))));
  }
  return cells;
}

Facts facts_of_markdown(const std::string& markdown) {
  Facts facts;
  std::vector<std::string> titles;
  for (const std::string& line : lines_of(markdown)) {
    if (line.empty() || line.rfind("|---", 0) == 0) {
      titles = line.empty() ? std::vector<std::string>() : titles;
      continue;
    }
    if (line.front() != '|') {
      const std::size_t marks = line.find_first_not_of('#');
      facts.push_back(unescaped(line.substr(marks > 0 ? marks + 1 : 0)));
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    const bool is_title = titles.empty();
    titles = is_title ? cells : titles;
    EXPECT_EQ(cells.size(), titles.size()) << line;
    if (is_title && titles.front().empty()) {
      continue;
    }
    std::string fact = cells.front();
    if (titles.front().empty()) {
      fact = label_fact_of_markdown(fact);
    }
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (!cells[i].empty()) {
        fact += " " + (titles.front().empty() ? titles[i] + "=" : "") + cells[i];
      }
    }
    facts.push_back(fact);
  }
  return facts;
}

TEST(ExplainText, AndMarkdownTellTheSameFacts) {
  for (const char* ranks : {"2", "3", "4"}) {
    for (const char* precision : {"FP32", "BF16"}) {
      const Explained explained(
          {kAll, std::string("cluster.world_size=") + ranks,
           std::string("training.precision=") + precision, "training.global_batch=12"},
          3);
      // Wide enough that no sentence and no table is cut.
      EXPECT_EQ(facts_of_text(explanation_text(explained.explanation, {.width = 1000})),
                facts_of_markdown(explanation_markdown(explained.explanation)));
    }
  }
}

TEST(ExplainText, AndMarkdownTellTheSameFactsOfFrameworks) {
  const Explained explained(
      {"strategies=TORCH_DDP,DEEPSPEED_STAGE2,DEEPSPEED_STAGE3,FSDP_HYBRID_SHARD,"
       "ZERO_REDUNDANCY_OPTIMIZER",
       "cluster.world_size=4", "options.shard_group_size=2", "options.bucket_elements=4",
       "options.bucket_size=12B", "training.clip_norm=1", "training.micro_batches=2",
       "training.global_batch=16", "options.persistence_threshold=1"},
      2);
  EXPECT_EQ(facts_of_text(explanation_text(explained.explanation, {.width = 1000})),
            facts_of_markdown(explanation_markdown(explained.explanation)));
}

// What is cut into blocks is not lost.
TEST(ExplainText, ShowsEachElementAlsoWhereTablesAreCut) {
  const Explained explained({kAll});
  const auto elements = [&](std::size_t width) {
    std::vector<std::string> found;
    Facts facts = facts_of_text(explanation_text(explained.explanation, {.width = width}));
    for (const std::string& fact : facts) {
      std::istringstream words(fact);
      for (std::string word; words >> word;) {
        if (word.find('=') != std::string::npos && word.size() > 4) {
          std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
          found.push_back(word);
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_GT(elements(1000).size(), 500U);
  EXPECT_EQ(elements(60), elements(1000));
  EXPECT_EQ(elements(40), elements(1000));
}

TEST(ExplainMarkdown, TakesNothingOfANameForMarkup) {
  const Explained explained({"name=\"a*b_c <b> # [x](y) | `z`\""});
  EXPECT_EQ(explanation_markdown(explained.explanation).substr(0, 50),
            R"(# a\*b\_c \<b\> \# \[x\](y) \| \`z\`: one training)");
}

// ---- Numbers ----

TEST(ExplainNumbers, OfElementsHaveAtMostSixCharacters) {
  EXPECT_EQ(element_text(0.0F), "0");
  EXPECT_EQ(element_text(-0.0F), "0");
  EXPECT_EQ(element_text(0.5124F), "0.512");
  EXPECT_EQ(element_text(-0.001F), "-0.001");
  EXPECT_EQ(element_text(0.00044F), "4e-4");
  EXPECT_EQ(element_text(-9.9996F), "-10.00");
  EXPECT_EQ(element_text(99.996F), "100.0");
  EXPECT_EQ(element_text(-9999.4F), "-9999");
  EXPECT_EQ(element_text(9999.6F), "1e4");
  EXPECT_EQ(element_text(std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(element_text(-std::numeric_limits<float>::infinity()), "-inf");
  for (double value = 1e-44; value < 3e38; value *= 1.37) {
    const std::string text = element_text(-static_cast<float>(value));
    EXPECT_LE(text.size(), 6U) << text;
    EXPECT_NEAR(std::stod(text) / -value, 1, 0.5) << text;
  }
}

TEST(ExplainNumbers, OfEquationsAreAsTheyWereWritten) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1 - 0.999), "0.001");
  EXPECT_EQ(number_text(1e-8), "1e-8");
  EXPECT_EQ(number_text(2.5e-10), "2.5e-10");
  EXPECT_EQ(number_text(1024), "1024");
  EXPECT_EQ(number_text(1e30), "1e30");
}

// ---- What is refused ----

TEST(ExplainLimits, AreSaidTogetherWithWhatMendsThem) {
  Explained explained({"strategies=DDP"});
  Scenario scenario = explained.scenario;
  EXPECT_TRUE(explain_faults("x", scenario, 3).empty());
  scenario.world_size = 5;
  scenario.model.widths = {8, 8};
  scenario.training.global_batch = 65;
  scenario.training.micro_batches = 5;
  scenario.training.storage = Storage::shape_only;
  std::string text;
  for (const Fault& fault : explain_faults("x.textproto", scenario, 4)) {
    text += format_fault(fault) + "\n";
  }
  EXPECT_EQ(text,
            "x.textproto: cluster.world_size: 5 ranks cannot be explained number by number; 2 to "
            "4, e.g. --set cluster.world_size=2\n"
            "x.textproto: model.layers: 72 parameters cannot be explained number by number; at "
            "most 64, e.g. --set model.layers=[2,2,1]\n"
            "x.textproto: training.global_batch: 65 rows cannot be explained number by number; at "
            "most 64, e.g. --set training.global_batch=12\n"
            "x.textproto: training.micro_batches: 5 micro-steps cannot be explained number by "
            "number; at most 4, e.g. --set training.micro_batches=2\n"
            "x.textproto: training.arithmetic: NONE has no numbers to explain; REAL, e.g. --set "
            "training.arithmetic=REAL\n"
            "--step 4: the scenario has 3 steps; 1 to 3\n");
  scenario = explained.scenario;
  scenario.world_size = 1;
  EXPECT_EQ(explain_faults("x", scenario, 1).size(), 1U);
}

}  // namespace
}  // namespace shardscope::testing
