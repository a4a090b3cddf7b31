// Numbers and units as people read them. Units are decimal: 1 kB = 1000 B, 1 GB = 1e9 B.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// A unit for a group of figures that are to be compared.
struct Unit {
  double size = 1;
  std::string_view name;
};

/// The unit in which the largest of the figures lies in [1, 1000), as far as there is one:
/// B to PB, and ns to s. The unit of 0 is B and s.
Unit byte_unit(double largest_bytes);
Unit time_unit(double largest_s);

/// Without exponent, rounded to so many significant digits and at most `most_decimals` decimals:
/// 4.31, 0.023, 120, 8014. "nan", "inf" and "-inf" for what is no finite number.
std::string significant(double value, int digits = 3, int most_decimals = 3);

/// The same without zeros at the end of decimals: 4.3, 120.
std::string trimmed_significant(double value, int digits, int most_decimals);

/// So many significant digits and a unit, no zeros at the end: "789 kB", "4.3 ms", "10 Gb/s",
/// "312 Tflop/s".
std::string format_bytes(double bytes, int digits = 3);
std::string format_seconds(double seconds, int digits = 3);
std::string format_bytes_per_s(double bytes_per_s, int digits = 3);
std::string format_bits_per_s(double bytes_per_s, int digits = 3);
std::string format_flops_per_s(double flops_per_s, int digits = 3);

/// Whole numbers in groups of three: "394,368".
std::string format_count(std::uint64_t count);

/// "1 rank", "1,024 ranks", "2 switches".
std::string plural(std::uint64_t count, const std::string& thing);

/// A share as whole percent: "57 %"; "< 1 %" for less than a half percent, "-" for no number.
std::string format_percent(double share);

/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& words);

/// Columns a terminal needs for the text: its UTF-8 characters.
std::size_t display_width(std::string_view text);

/// Where wrapped() may end a line without a space.
inline constexpr char kSoftBreak = '\x1f';

/// The text's words in lines of at most `width` columns, each ended by '\n'. The first line begins
/// with `first`, the others with `indent` spaces. Longer words are cut in pieces.
std::string wrapped(std::string_view text, std::size_t width, std::string first = "",
                    std::size_t indent = 0);

}  // namespace shardscope
