#include "sim/sweep/summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/report/format.h"
#include "sim/report/page.h"
#include "sim/report/table.h"
#include "sim/report/ties.h"
#include "sim/sweep/findings_table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostExamples = 3;  // Of a reason.
constexpr std::size_t kMostSentences = 6;
constexpr std::size_t kMostValues = 6;

// Those sentences that there are.
std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += (text.empty() || sentence.empty() ? "" : " ") + sentence;
  }
  return text;
}

// "12 values from 1Gbps to 400Gbps, log", or all of a few.
std::string values_words(const Axis& axis) {
  std::vector<std::string> texts;
  for (const AxisValue& value : axis.values) {
    texts.push_back(printable(value.text));
  }
  if (texts.size() <= kMostValues) {
    return listed(texts);
  }
  const std::string scale = axis.is_numeric() ? ", " + std::string(name(axis.scale)) : "";
  return plural(texts.size(), "value") + " from " + texts.front() + " to " + texts.back() + scale;
}

class SummaryPage {
 public:
  SummaryPage(const Grid& grid, const std::vector<Finding>& findings)
      : grid_(grid), sweep_(grid.sweep()), findings_(findings) {}

  std::string text() {
    write_counts();
    write_swept();
    if (sweep_.shard.count > 1) {
      say("This is " + shard_words(sweep_.shard) +
          "; shardscope merge joins them and says what they show together.");
    } else {
      write_fastest();
      write_skipped();
      write_memory();
      write_tables();
    }
    write_failures();
    return page_.text();
  }

 private:
  template <typename F>
  void for_rows(F&& f) const {
    for (std::size_t point = 0; point < sweep_.point_count(); ++point) {
      for (std::size_t s = 0; s < sweep_.strategies.size(); ++s) {
        if (grid_.row(point, s).outcome != Outcome::missing) {
          f(point, s, grid_.row(point, s));
        }
      }
    }
  }

  void write_counts() {
    std::map<Outcome, std::size_t> counts;
    std::size_t rows = 0;
    for_rows([&](std::size_t, std::size_t, const Row& row) {
      ++counts[row.outcome];
      ++rows;
    });
    std::vector<std::string> parts = {format_count(counts[Outcome::completed]) + " completed"};
    if (counts[Outcome::out_of_memory] > 0) {
      parts.push_back(format_count(counts[Outcome::out_of_memory]) + " out of memory");
    }
    if (counts[Outcome::failed] > 0) {
      parts.push_back(format_count(counts[Outcome::failed]) + " failed");
    }
    page_.paragraph(
        printable(sweep_.name) + ": " + plural(rows / sweep_.strategies.size(), "point") + " x " +
        (sweep_.strategies.size() == 1 ? "1 strategy"
                                       : format_count(sweep_.strategies.size()) + " strategies") +
        " = " + plural(rows, "row") + ": " + listed(parts) + ".");
    page_.empty_line();
  }

  void write_swept() {
    for (const Axis& axis : sweep_.axes) {
      page_.paragraph(axis.field.path + ": " + values_words(axis));
    }
    page_.paragraph("strategies: " + listed(sweep_.strategies));
    const bool real = sweep_.arithmetic == "REAL";
    page_.paragraph("arithmetic: " + sweep_.arithmetic +
                    (real                          ? ""
                     : sweep_.arithmetic == "NONE" ? " (shapes only, no losses)"
                                                   : ""));
    page_.paragraph(
        "times: means of steps 2 to the last (step 1 if it is the only one), each of "
        "the rank that finishes it last");
  }

  // A sentence of those between what was swept and the tables.
  void say(const std::string& words) {
    if (!has_said_) {
      page_.empty_line();
      has_said_ = true;
    }
    page_.paragraph(words);
  }

  // Who is fastest at how many points.
  void write_fastest() {
    std::vector<std::size_t> wins(sweep_.strategies.size(), 0);
    std::size_t decided = 0;
    for (std::size_t point = 0; point < sweep_.point_count(); ++point) {
      decided += add_winners(point, wins) ? 1 : 0;
    }
    if (decided == 0) {
      say("No point completed.");
      return;
    }
    if (sweep_.strategies.size() == 1) {
      return;
    }
    std::vector<std::size_t> order(wins.size());
    for (std::size_t s = 0; s < order.size(); ++s) {
      order[s] = s;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return wins[a] > wins[b]; });
    std::vector<std::string> words;
    for (const std::size_t s : order) {
      if (wins[s] > 0) {
        words.push_back(sweep_.strategies[s] + " at " + format_count(wins[s]));
      }
    }
    say("Fastest, of " + plural(decided, "point") + ": " + listed(words) +
        (has_ties_ ? ". Those as fast as the fastest, within 0.1 %, count as well." : "."));
  }

  // A skipped step does no update and may send less, so that it is faster than one that trains.
  void write_skipped() {
    std::size_t rows = 0;
    std::string first;
    for_rows([&](std::size_t point, std::size_t strategy, const Row& row) {
      if (row.skipped_steps > 0 && rows++ == 0) {
        first = row_words(point, strategy);
      }
    });
    if (rows > 0) {
      say("Steps were skipped in " + plural(rows, "row") + ", the first at " + first +
          ": gradients overflowed, nothing was updated, and their times count.");
    }
  }

  bool add_winners(std::size_t point, std::vector<std::size_t>& wins) {
    double least = 0;
    bool any = false;
    for (std::size_t s = 0; s < wins.size(); ++s) {
      const Row& row = grid_.row(point, s);
      if (row.outcome == Outcome::completed && (!any || row.wall_s < least)) {
        least = row.wall_s;
        any = true;
      }
    }
    std::size_t winners = 0;
    for (std::size_t s = 0; any && s < wins.size(); ++s) {
      const Row& row = grid_.row(point, s);
      if (row.outcome == Outcome::completed && is_as_good(row.wall_s, least)) {
        ++wins[s];
        ++winners;
      }
    }
    has_ties_ = has_ties_ || winners > 1;
    return any;
  }

  void write_memory() {
    std::size_t found = 0;
    for (const Finding& finding : findings_) {
      if (finding.kind == FindingKind::out_of_memory && ++found <= kMostSentences) {
        say(printable(sentence(sweep_, finding)));
      }
    }
    if (found > kMostSentences) {
      say(format_count(found - kMostSentences) + " more such ranges.");
    }
  }

  void write_tables() {
    const std::string share = format_percent(kWorthwhile);
    for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis) {
      write_table(axis, FindingKind::overtakes, "Where one strategy overtakes another",
                  has_leading(axis) ? "* and none is faster from there on." : "");
      write_table(axis, FindingKind::communication_exceeds_compute,
                  "Where exposed communication exceeds compute", "");
      write_table(axis, FindingKind::saturates, "From where on doubling brings under " + share, "");
    }
  }

  bool has_leading(std::size_t axis) const {
    return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& finding) {
      return finding.axis == axis && finding.leads;
    });
  }

  void write_table(std::size_t axis, FindingKind kind, const std::string& title,
                   const std::string& note) {
    const TableOfFindings found = findings_table(sweep_, findings_, axis, kind);
    const std::string more =
        found.left_out == 0 ? "" : format_count(found.left_out) + " more in findings.json.";
    page_.section(title + ", " + sweep_.axes[axis].field.path, found.table,
                  joined({note, found.note, more}));
  }

  // Rows that failed for the same reason: how many, and the first of them.
  struct Failures {
    std::string reason;
    std::size_t count = 0;
    std::vector<std::string> examples;
  };

  // Those of most rows first.
  std::vector<Failures> group_failures() const {
    std::map<std::string, Failures> by_reason;
    for_rows([&](std::size_t point, std::size_t strategy, const Row& row) {
      if (row.outcome == Outcome::failed) {
        Failures& failures = by_reason[row.reason];
        failures.reason = row.reason;
        ++failures.count;
        if (failures.examples.size() < kMostExamples) {
          failures.examples.push_back(row_words(point, strategy));
        }
      }
    });
    std::vector<Failures> ordered;
    for (auto& [reason, failures] : by_reason) {
      ordered.push_back(std::move(failures));
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    return ordered;
  }

  // "DDP with cluster.world_size=3".
  std::string row_words(std::size_t point, std::size_t strategy) const {
    return sweep_.strategies[strategy] + " with " + listed(assignments(sweep_, point));
  }

  void write_failures() {
    const std::vector<Failures> ordered = group_failures();
    if (ordered.empty()) {
      return;
    }
    page_.heading("What failed");
    for (std::size_t i = 0; i < std::min(kMostReasons, ordered.size()); ++i) {
      const Failures& failures = ordered[i];
      const std::string are = failures.count > failures.examples.size() ? "; for example " : "; ";
      std::string words = plural(failures.count, "row") + ": " + failures.reason;
      for (std::size_t e = 0; e < failures.examples.size(); ++e) {
        words += (e == 0 ? are : "; ") + failures.examples[e];
      }
      page_.paragraph(printable(words), Style::plain, 2);
    }
    if (ordered.size() > kMostReasons) {
      page_.paragraph(plural(ordered.size() - kMostReasons, "more reason") + " in points.csv",
                      Style::plain, 2);
    }
  }

  const Grid& grid_;
  const Sweep& sweep_;
  const std::vector<Finding>& findings_;
  Page page_{false};
  bool has_ties_ = false;
  bool has_said_ = false;
};

}  // namespace

std::string sweep_summary(const Grid& grid, const std::vector<Finding>& findings) {
  return SummaryPage(grid, findings).text();
}

}  // namespace shardscope
