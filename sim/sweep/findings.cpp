#include "sim/sweep/findings.h"

#include <algorithm>
#include <limits>

#include "sim/report/format.h"
#include "sim/report/ties.h"
#include "sim/sweep/crossings.h"
#include "sim/sweep/memory_findings.h"

namespace shardscope {
namespace {

// Looks for crossings on one line of the grid.
class LineFindings {
 public:
  LineFindings(const Grid& grid, std::size_t axis, std::size_t start, std::vector<Finding>& found)
      : grid_(grid), axis_(axis), start_(start), found_(found) {
    const std::vector<std::size_t> indices = grid.sweep().coordinates(start);
    fixed_.assign(indices.begin(), indices.end());
    fixed_[axis].reset();
  }

  void find_overtaking() {
    const std::size_t count = grid_.sweep().strategies.size();
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) {
        const auto samples = make_samples([&](std::size_t point, Sample& sample) {
          const Row& first = grid_.row(point, a);
          const Row& second = grid_.row(point, b);
          sample.known = is_completed(first) && is_completed(second);
          sample.value = first.wall_s - second.wall_s;
          sample.size = std::max(first.wall_s, second.wall_s);
        });
        for (const Crossing& crossing : find_crossings(samples, between())) {
          add_overtaking(crossing, a, b);
        }
      }
    }
  }

  void find_communication(std::size_t strategy) {
    const auto samples = make_samples([&](std::size_t point, Sample& sample) {
      const Row& row = grid_.row(point, strategy);
      sample.known = is_completed(row);
      sample.value = row.exposed_communication_s - row.compute_s();
      sample.size = row.wall_s;
    });
    for (const Crossing& crossing : find_crossings(samples, between())) {
      add(FindingKind::communication_exceeds_compute, crossing, {strategy}).above = crossing.rising;
    }
  }

  void find_saturation_of(std::size_t strategy) {
    const auto samples = make_samples([&](std::size_t point, Sample& sample) {
      const Row& row = grid_.row(point, strategy);
      sample.known = is_completed(row) && row.wall_s > 0;
      sample.value = row.wall_s;
    });
    if (const auto crossing = find_saturation(samples, kWorthwhile)) {
      add(FindingKind::saturates, *crossing, {strategy});
    }
  }

 private:
  // Transfers and kernels take times over rates and speeds, and shares of them added up are affine
  // in the inverse as long as they wait for each other in the same way.
  Between between() const {
    const Axis& axis = grid_.sweep().axes[axis_];
    const bool is_rate =
        axis.field.kind == FieldKind::quantity &&
        (axis.field.dimension == Dimension::rate || axis.field.dimension == Dimension::speed);
    if (is_rate) {
      return Between::reciprocal;
    }
    return axis.scale == Scale::log ? Between::logarithmic : Between::linear;
  }
  static bool is_completed(const Row& row) { return row.outcome == Outcome::completed; }

  std::size_t point(std::size_t position) const {
    return grid_.on_line(start_, axis_, grid_.ascending(axis_)[position]);
  }

  template <typename F>
  std::vector<Sample> make_samples(F&& fill) const {
    const std::vector<std::size_t>& order = grid_.ascending(axis_);
    std::vector<Sample> samples(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      samples[i].x = grid_.sweep().axes[axis_].values[order[i]].number;
      fill(point(i), samples[i]);
    }
    return samples;
  }

  double fastest(std::size_t point) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < grid_.sweep().strategies.size(); ++s) {
      const Row& row = grid_.row(point, s);
      least = is_completed(row) ? std::min(least, row.wall_s) : least;
    }
    return least;
  }

  bool leads(std::size_t point, std::size_t strategy) const {
    return is_as_good(grid_.row(point, strategy).wall_s, fastest(point));
  }

  // `rising`: the first strategy becomes slower than the second.
  void add_overtaking(const Crossing& crossing, std::size_t a, std::size_t b) {
    const std::size_t winner = crossing.rising ? b : a;
    const std::size_t loser = crossing.rising ? a : b;
    add(FindingKind::overtakes, crossing, {winner, loser}).leads =
        leads(point(crossing.low), loser) && leads(point(crossing.high), winner);
  }

  Finding& add(FindingKind kind, const Crossing& crossing, std::vector<std::size_t> strategies) {
    const std::vector<std::size_t>& order = grid_.ascending(axis_);
    Finding& finding = found_.emplace_back();
    finding.kind = kind;
    finding.strategies = std::move(strategies);
    finding.axis = axis_;
    finding.at = crossing.at;
    finding.low = order[crossing.low];
    finding.high = order[crossing.high];
    finding.fixed = fixed_;
    return finding;
  }

  const Grid& grid_;
  std::size_t axis_;
  std::size_t start_;
  std::vector<Finding>& found_;
  std::vector<std::optional<std::size_t>> fixed_;
};

bool is_bandwidth_like(const Axis& axis) {
  return axis.field.kind == FieldKind::quantity &&
         (axis.field.dimension == Dimension::rate || axis.field.dimension == Dimension::speed);
}

std::string strategy_words(const Sweep& sweep, const std::vector<std::size_t>& strategies) {
  std::vector<std::string> names;
  names.reserve(strategies.size());
  for (const std::size_t strategy : strategies) {
    names.push_back(sweep.strategies[strategy]);
  }
  return listed(names);
}

// " with cluster.world_size=8".
std::string fixed_words(const Sweep& sweep, const Finding& finding) {
  std::vector<std::string> words;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (finding.fixed[a].has_value()) {
      words.push_back(sweep.axes[a].field.path + "=" +
                      sweep.axes[a].values[*finding.fixed[a]].text);
    }
  }
  return words.empty() ? "" : " with " + listed(words);
}

std::string range_words(const Axis& axis, const Finding& finding) {
  const std::string& low = axis.values[finding.low].text;
  const std::string& high = axis.values[finding.high].text;
  if (finding.low == finding.high) {
    return " at " + axis.field.path + "=" + low;
  }
  return " at " + axis.field.path + " from " + low + " to " + high;
}

}  // namespace

std::string_view name(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_memory:
      return "out_of_memory";
    case FindingKind::overtakes:
      return "overtakes";
    case FindingKind::communication_exceeds_compute:
      return "communication_exceeds_compute";
    case FindingKind::saturates:
      return "saturates";
  }
  return "";
}

std::vector<Finding> find_all(const Grid& grid) {
  const Sweep& sweep = grid.sweep();
  std::vector<Finding> found = find_out_of_memory(grid);
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    if (!sweep.axes[axis].is_numeric()) {
      continue;
    }
    for (const std::size_t start : grid.line_starts(axis)) {
      LineFindings line(grid, axis, start, found);
      line.find_overtaking();
      for (std::size_t s = 0; s < sweep.strategies.size(); ++s) {
        line.find_communication(s);
        if (is_bandwidth_like(sweep.axes[axis])) {
          line.find_saturation_of(s);
        }
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.leads > b.leads;
  });
  return found;
}

bool holds_from_the_first(const Sweep& sweep, const Finding& finding) {
  const std::vector<AxisValue>& values = sweep.axes[*finding.axis].values;
  return finding.low == finding.high &&
         std::all_of(values.begin(), values.end(), [&](const AxisValue& value) {
           return value.number >= values[finding.low].number;
         });
}

std::string any_value_words(const Axis& axis, const Finding& finding) {
  return "at any value from " + axis.values[finding.low].text + " up (already at the first)";
}

std::string sentence(const Sweep& sweep, const Finding& finding) {
  const std::string names = strategy_words(sweep, finding.strategies);
  const std::string fixed = fixed_words(sweep, finding);
  if (finding.kind == FindingKind::out_of_memory) {
    const std::string verb = finding.strategies.size() == 1 ? " runs" : " run";
    return names + verb + " out of memory" +
           (finding.axis.has_value() ? range_words(sweep.axes[*finding.axis], finding)
                                     : std::string(" at every point")) +
           fixed + ".";
  }
  const Axis& axis = sweep.axes[*finding.axis];
  const std::string at = axis.field.path + "=" + axis_number_text(axis, finding.at);
  const std::string between = finding.low == finding.high
                                  ? std::string()
                                  : " (between " + axis.values[finding.low].text + " and " +
                                        axis.values[finding.high].text + ")";
  switch (finding.kind) {
    case FindingKind::overtakes:
      return sweep.strategies[finding.strategies[0]] + " overtakes " +
             sweep.strategies[finding.strategies[1]] + " at " + at + between + fixed +
             (finding.leads ? ", and none is faster from there on." : ".");
    case FindingKind::communication_exceeds_compute:
      return "Exposed communication of " + names + " exceeds its compute " +
             (finding.above ? "above " : "below ") + at + between + fixed + ".";
    default:
      if (holds_from_the_first(sweep, finding)) {
        return "Doubling " + axis.field.path + " shortens a step of " + names + " by less than " +
               format_percent(kWorthwhile) + " " + any_value_words(axis, finding) + fixed + ".";
      }
      return "From " + at + between + " on, doubling it shortens a step of " + names +
             " by less than " + format_percent(kWorthwhile) + fixed + ".";
  }
}

}  // namespace shardscope
