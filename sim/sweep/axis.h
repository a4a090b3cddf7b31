// An axis of a sweep: a field and the values it takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario_field.h"
#include "sim/scenario/sweep_block.h"
#include "sim/text/fault.h"

namespace shardscope {

/// How an axis is to be drawn and interpolated. A list of numbers counts as log if its steps are
/// nearer to equal ratios than to equal differences.
enum class Scale { linear, log, category };

/// "linear", "log", "category".
std::string_view name(Scale scale);

struct AxisValue {
  std::string text;   ///< As --set takes it.
  double number = 0;  ///< In base units; without meaning in a category.
};

struct Axis {
  ScenarioField field;
  Scale scale = Scale::category;
  std::vector<AxisValue> values;  ///< In the order they were given, each once.

  std::string place;      ///< Of the axis, for faults.
  bool is_range = false;  ///< Made from its ends; else listed.

  bool is_numeric() const { return scale != Scale::category; }
};

/// The most values of an axis, and the most points of a sweep.
inline constexpr std::size_t kMostPoints = 1'000'000;

/// "FIELD=FROM..TO:POINTS[:log|:linear]" or "FIELD=V1,V2,..." of the command line as an axis to be
/// read; nothing and a fault if it is neither. Two dots make a range, but not of texts
/// and lists.
std::optional<AxisText> parse_axis_argument(const std::string& argument,
                                            std::vector<Fault>& faults);

/// The axis that the text describes, or nothing and its faults, all of them.
std::optional<Axis> read_axis(const AxisText& text, std::vector<Fault>& faults);

/// An axis of listed values that are known to be good, as a file of ours keeps it.
Axis make_axis(const ScenarioField& field, Scale scale, const std::vector<std::string>& values);

/// The unit that the text of a quantity ends with, "Gbps"; empty for a number.
std::string unit_of(std::string_view text);

/// "2.34Gbps": a number on the axis, in words, in the unit of the value nearest below it.
std::string axis_number_text(const Axis& axis, double number);

}  // namespace shardscope
