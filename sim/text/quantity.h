// Quantities as SimGrid users write them: a number and a unit, "10Gbps", "5us", "80GiB", "312Tf".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardscope {

/// What a quantity measures, and the unit its value comes in.
enum class Dimension {
  size,   ///< bytes: "64MiB", "40GB"
  rate,   ///< bytes per second: "10Gbps" (bits), "12.5GBps" (bytes)
  time,   ///< seconds: "5us"
  speed,  ///< floating-point operations per second: "312Tf"
};

/// A quantity, or why the text is none.
struct ParsedQuantity {
  std::optional<double> value;
  std::string problem;       ///< e.g. "has no unit"; empty if there is a value.
  std::string allowed;       ///< e.g. `a size such as "64MiB"`; empty if there is a value.
  std::string nearest_unit;  ///< For a misspelt unit.
};

/// Zero, which is the caller's to judge, or any size, 1 to 1e18 B/s, 1e-12 to 1e6 s, 1 to 1e18
/// flop/s. Spaces may separate number and unit.
/// The value is the double nearest to what is written, so that equal quantities in different units
/// compare equal.
ParsedQuantity parse_quantity(Dimension dimension, std::string_view text);

/// What parse_quantity takes for the dimension, with an example: `a time such as "5us"`.
std::string describe(Dimension dimension);

/// A size's value as whole bytes; nothing below half a byte or from 2^63 on.
std::optional<std::uint64_t> whole_bytes(double size);

}  // namespace shardscope
