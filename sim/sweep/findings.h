// What a sweep says: where along an axis, with the others fixed, things change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/grid.h"

namespace shardscope {

enum class FindingKind {
  out_of_memory,                  ///< What does not fit: a range of values.
  overtakes,                      ///< The first strategy becomes faster than the second.
  communication_exceeds_compute,  ///< Exposed communication against forward, backward, optimizer.
  saturates,                      ///< Doubling brings less than kWorthwhile.
};

/// As in findings.json.
std::string_view name(FindingKind kind);

/// The least share of a step's time that a doubling should save.
inline constexpr double kWorthwhile = 0.05;

struct Finding {
  FindingKind kind = FindingKind::overtakes;
  std::vector<std::size_t> strategies;

  /// The axis along which it was found; none for what is so at every point.
  std::optional<std::size_t> axis;

  /// On that axis; interpolated but for out_of_memory, where it is the value next to those that
  /// fit. In a category, `low` and `high` alone have a meaning.
  double at = 0;
  std::size_t low =
      0;  ///< Indices of the values it lies between, or the first and last in a range.
  std::size_t high = 0;

  /// Of each axis the index of its value; none where any value will do.
  std::vector<std::optional<std::size_t>> fixed;

  bool above = false;  ///< Of communication_exceeds_compute: above `at`, else below it.
  bool leads = false;  ///< Of overtakes: no strategy is faster than the first any more.
};

/// All findings, the most important kinds first. Only numeric axes have crossings, saturation only
/// rates and speeds, of which more is better.
std::vector<Finding> find_all(const Grid& grid);

/// Of saturates: whether it is so at every value of its axis.
bool holds_from_the_first(const Sweep& sweep, const Finding& finding);

/// "at any value from 1Gbps up (already at the first)", of such a finding.
std::string any_value_words(const Axis& axis, const Finding& finding);

/// A sentence.
std::string sentence(const Sweep& sweep, const Finding& finding);

}  // namespace shardscope
