#include "sim/sweep/memory_findings.h"

#include <algorithm>
#include <map>
#include <utility>

namespace shardscope {
namespace {

enum class Fit { unknown, fits, lacks };

Fit fit(const Row& row) {
  switch (row.outcome) {
    case Outcome::completed:
      return Fit::fits;
    case Outcome::out_of_memory:
      return Fit::lacks;
    default:
      return Fit::unknown;
  }
}

// Whether some line along the axis has points of both kinds.
bool decides(const Grid& grid, std::size_t strategy, std::size_t axis) {
  const std::vector<std::size_t> starts = grid.line_starts(axis);
  return std::any_of(starts.begin(), starts.end(), [&](std::size_t start) {
    bool fits = false;
    bool lacks = false;
    for (const std::size_t i : grid.ascending(axis)) {
      const Fit here = fit(grid.row(grid.on_line(start, axis, i), strategy));
      fits = fits || here == Fit::fits;
      lacks = lacks || here == Fit::lacks;
    }
    return fits && lacks;
  });
}

using Fixed = std::vector<std::optional<std::size_t>>;

// The one whose ranges say most in the fewest words: numbers before categories, many values before
// few, and then the last.
std::size_t axis_of_ranges(const Sweep& sweep, const std::vector<std::size_t>& deciding) {
  const auto rank = [&](std::size_t a) {
    return std::pair(sweep.axes[a].is_numeric(), sweep.axes[a].values.size());
  };
  return *std::max_element(deciding.rbegin(), deciding.rend(),
                           [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
}

// By the values of the deciding axes but `axis`, what fits at each value of that one. Where other
// axes still differ, points that lack memory prevail.
std::map<Fixed, std::vector<Fit>> lines_along(const Grid& grid, std::size_t strategy,
                                              const std::vector<std::size_t>& deciding,
                                              std::size_t axis) {
  const Sweep& sweep = grid.sweep();
  std::map<Fixed, std::vector<Fit>> lines;
  for (std::size_t point = 0; point < sweep.point_count(); ++point) {
    const std::vector<std::size_t> indices = sweep.coordinates(point);
    Fixed fixed(sweep.axes.size());
    for (const std::size_t a : deciding) {
      if (a != axis) {
        fixed[a] = indices[a];
      }
    }
    std::vector<Fit>& line = lines[fixed];
    line.resize(sweep.axes[axis].values.size(), Fit::unknown);
    line[indices[axis]] = std::max(line[indices[axis]], fit(grid.row(point, strategy)));
  }
  return lines;
}

// The stretches of a line that lack memory.
void add_ranges(const Grid& grid, std::size_t axis, const std::vector<Fit>& line,
                const Finding& like, std::vector<Finding>& found) {
  const std::vector<std::size_t>& order = grid.ascending(axis);
  for (std::size_t begin = 0; begin < order.size(); ++begin) {
    if (line[order[begin]] != Fit::lacks) {
      continue;
    }
    std::size_t end = begin;
    while (end + 1 < order.size() && line[order[end + 1]] == Fit::lacks) {
      ++end;
    }
    Finding finding = like;
    finding.axis = axis;
    finding.low = order[begin];
    finding.high = order[end];
    finding.at = grid.sweep().axes[axis].values[begin == 0 ? order[end] : order[begin]].number;
    found.push_back(std::move(finding));
    begin = end;
  }
}

void add_findings_of(const Grid& grid, std::size_t strategy, std::vector<Finding>& found) {
  Finding finding;
  finding.kind = FindingKind::out_of_memory;
  finding.strategies = {strategy};
  finding.fixed.resize(grid.sweep().axes.size());
  std::vector<std::size_t> deciding;
  for (std::size_t a = 0; a < grid.sweep().axes.size(); ++a) {
    if (decides(grid, strategy, a)) {
      deciding.push_back(a);
    }
  }
  if (deciding.empty()) {
    for (std::size_t point = 0; point < grid.sweep().point_count(); ++point) {
      if (fit(grid.row(point, strategy)) == Fit::lacks) {
        found.push_back(finding);
        return;
      }
    }
    return;
  }
  const std::size_t axis = axis_of_ranges(grid.sweep(), deciding);
  for (const auto& [fixed, line] : lines_along(grid, strategy, deciding, axis)) {
    finding.fixed = fixed;
    add_ranges(grid, axis, line, finding, found);
  }
}

bool is_same_range(const Finding& a, const Finding& b) {
  return a.axis == b.axis && a.low == b.low && a.high == b.high && a.fixed == b.fixed;
}

}  // namespace

std::vector<Finding> find_out_of_memory(const Grid& grid) {
  std::vector<Finding> found;
  for (std::size_t s = 0; s < grid.sweep().strategies.size(); ++s) {
    std::vector<Finding> own;
    add_findings_of(grid, s, own);
    for (Finding& finding : own) {
      const auto same = std::find_if(found.begin(), found.end(), [&](const Finding& other) {
        return is_same_range(finding, other);
      });
      if (same == found.end()) {
        found.push_back(std::move(finding));
      } else {
        same->strategies.push_back(s);
      }
    }
  }
  return found;
}

}  // namespace shardscope
