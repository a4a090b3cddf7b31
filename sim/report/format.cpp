#include "sim/report/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::array<Unit, 6> kByteUnits = {
    {{1e0, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}}};
constexpr std::array<Unit, 4> kTimeUnits = {{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1e0, "s"}}};
constexpr std::array<Unit, 6> kBitRateUnits = {
    {{1e0, "b/s"}, {1e3, "kb/s"}, {1e6, "Mb/s"}, {1e9, "Gb/s"}, {1e12, "Tb/s"}, {1e15, "Pb/s"}}};
constexpr std::array<Unit, 7> kFlopUnits = {{{1e0, "flop/s"},
                                             {1e3, "kflop/s"},
                                             {1e6, "Mflop/s"},
                                             {1e9, "Gflop/s"},
                                             {1e12, "Tflop/s"},
                                             {1e15, "Pflop/s"},
                                             {1e18, "Eflop/s"}}};

/// The largest unit that is not above the value, the smallest if all are. A value that rounds up to
/// the next unit at three digits (999.6) takes that one.
Unit unit_for(std::span<const Unit> units, double value) {
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (std::abs(value) >= 0.9995 * unit.size) {
      chosen = unit;
    }
  }
  return chosen;
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// The power of ten of the first digit once the value is rounded to so many digits.
int rounded_exponent(double value, int digits) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*e", digits - 1, value);
  const std::string number(text.data());
  return std::stoi(number.substr(number.find('e') + 1));
}

std::string with_unit(double value, Unit unit, int digits) {
  return trimmed_significant(value / unit.size, digits, digits) + " " + std::string(unit.name);
}

/// The longest beginning of `text` of at most `width` columns, in bytes; at least one character.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  for (std::size_t columns = 0; bytes < text.size() && (columns < width || bytes == 0); ++columns) {
    bytes += std::max<std::size_t>(utf8_character_length(text.substr(bytes)), 1);
  }
  return bytes;
}

}  // namespace

Unit byte_unit(double largest_bytes) { return unit_for(kByteUnits, largest_bytes); }

Unit time_unit(double largest_s) {
  return largest_s == 0 ? kTimeUnits.back() : unit_for(kTimeUnits, largest_s);
}

std::string significant(double value, int digits, int most_decimals) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  if (value == 0) {
    return "0";
  }
  const int decimals = digits - 1 - rounded_exponent(value, digits);
  return fixed(value, std::clamp(decimals, 0, most_decimals));
}

std::string trimmed_significant(double value, int digits, int most_decimals) {
  std::string number = significant(value, digits, most_decimals);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') {
      number.pop_back();
    }
  }
  return number;
}

std::string format_bytes(double bytes, int digits) {
  return with_unit(bytes, byte_unit(bytes), digits);
}

std::string format_seconds(double seconds, int digits) {
  return with_unit(seconds, time_unit(seconds), digits);
}

std::string format_bytes_per_s(double bytes_per_s, int digits) {
  return format_bytes(bytes_per_s, digits) + "/s";
}

std::string format_bits_per_s(double bytes_per_s, int digits) {
  return with_unit(8 * bytes_per_s, unit_for(kBitRateUnits, 8 * bytes_per_s), digits);
}

std::string format_flops_per_s(double flops_per_s, int digits) {
  return with_unit(flops_per_s, unit_for(kFlopUnits, flops_per_s), digits);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t end = text.size(); end > 3; end -= 3) {
    text.insert(end - 3, ",");
  }
  return text;
}

std::string plural(std::uint64_t count, const std::string& thing) {
  const char* const ending = count == 1                                      ? ""
                             : thing.ends_with("ch") || thing.ends_with("s") ? "es"
                                                                             : "s";
  return format_count(count) + " " + thing + ending;
}

std::string format_percent(double share) {
  if (!std::isfinite(share)) {
    return "-";
  }
  if (share > 0 && share < 0.005) {
    return "< 1 %";
  }
  return fixed(100 * share, 0) + " %";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  }));
}

std::string wrapped(std::string_view text, std::size_t width, std::string first,
                    std::size_t indent) {
  std::string lines;
  std::string line = std::move(first);
  bool line_has_words = false;
  const auto end_line = [&] {
    lines += line + "\n";
    line.assign(indent, ' ');
    line_has_words = false;
  };
  bool space_before = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(std::string{' ', kSoftBreak}), text.size());
    std::string_view word = text.substr(0, end);
    const std::size_t gap = space_before ? 1 : 0;
    if (line_has_words && display_width(line) + gap + display_width(word) > width) {
      end_line();
    }
    line += line_has_words && space_before ? " " : "";
    space_before = end < text.size() && text[end] == ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
    while (display_width(line) + display_width(word) > width) {
      const std::size_t bytes = fitting_bytes(word, width - display_width(line));
      line += word.substr(0, bytes);
      word.remove_prefix(bytes);
      end_line();
    }
    line += word;
    line_has_words = true;
  }
  end_line();
  return lines;
}

}  // namespace shardscope
