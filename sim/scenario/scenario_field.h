// A field of the scenario's schema by its path, and what counts as a value of it, for those that
// set fields without a file: sweeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/text/fault.h"
#include "sim/text/quantity.h"

namespace shardscope {

enum class FieldKind {
  whole,     ///< A whole number.
  number,    ///< A number.
  quantity,  ///< A number and a unit.
  choice,    ///< One of a few names, or true and false.
  text,
  list,   ///< Of values.
  block,  ///< Of fields; it has no value of its own.
};

struct ScenarioField {
  std::string path;
  FieldKind kind = FieldKind::text;
  Dimension dimension = Dimension::size;  ///< Of a quantity.

  bool is_numeric() const {
    return kind == FieldKind::whole || kind == FieldKind::number || kind == FieldKind::quantity;
  }
};

/// Nothing, and the fault without its place, if the schema has no such path.
std::optional<ScenarioField> find_scenario_field(const std::string& path, Fault& fault);

/// Why the text, as --set would take it, is no value of the field's type; the fault has no place.
/// Ranges are for the scenario's reader to judge.
std::optional<Fault> why_no_value(const ScenarioField& field, const std::string& text);

/// The value of a numeric field in base units. The text must be one.
double numeric_value(const ScenarioField& field, const std::string& text);

}  // namespace shardscope
