// Numbers as an explanation shows them.
#pragma once

#include <string>

namespace shardscope {

/// An element of a table, in at most six characters: four digits of which three are decimals at
/// most ("-0.512", "12.35"), or one digit and an exponent ("2e-5", "-1e10").
std::string element_text(float value);

/// A number of an equation, in up to six digits, without zeros at the end: "0.001", "1e-8".
std::string number_text(double value);

}  // namespace shardscope
