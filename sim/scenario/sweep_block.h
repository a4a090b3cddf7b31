// The sweep block of a scenario file, as it is written; sim/sweep makes axes of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/overrides.h"
#include "sim/scenario/reader.h"

namespace shardscope {

/// A value as it was written, without quotes, and where: FILE:LINE:COLUMN, or the argument.
struct PlacedText {
  std::string text;
  std::string place;
};

/// An axis, of the file or of the command line.
struct AxisText {
  std::string place;
  std::optional<PlacedText> field;
  std::optional<PlacedText> values;
  std::optional<PlacedText> from;
  std::optional<PlacedText> to;
  std::optional<PlacedText> points;
  std::optional<PlacedText> scale;  ///< LINEAR or LOG.
};

/// The axes of the file with the overrides applied, as far as they can be read: what is wrong with
/// the file's syntax, names and types is for parse_scenario() to say.
std::vector<AxisText> parse_sweep_block(const ScenarioFile& file,
                                        const std::vector<Override>& overrides);

}  // namespace shardscope
