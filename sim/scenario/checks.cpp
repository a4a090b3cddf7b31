#include "sim/scenario/checks.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace shardscope {
namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

std::string describe(const NumberRange& range) {
  const std::string low =
      range.low_bound == Bound::inclusive ? "a number from " : "a number above ";
  const std::string high = range.high_bound == Bound::inclusive ? " up to " : " to below ";
  return low + short_number(range.low) + high + short_number(range.high);
}

std::string describe(const WholeRange& range) {
  return "a whole number from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

bool is_given(MessageText& text, std::string_view path, const std::string& allowed) {
  if (text.has(path)) return true;
  text.report_missing(path, allowed);
  return false;
}

bool contains(const NumberRange& range, double value) {
  const bool above = range.low_bound == Bound::inclusive ? value >= range.low : value > range.low;
  const bool below =
      range.high_bound == Bound::inclusive ? value <= range.high : value < range.high;
  return above && below;
}

std::optional<double> check_number(MessageText& text, std::string_view path, NumberRange range) {
  if (text.is_refused(path)) return std::nullopt;
  const double value = text.number(path);
  if (contains(range, value)) return value;
  text.refuse(path, "is not allowed", describe(range));
  return std::nullopt;
}

std::optional<std::int64_t> check_whole(MessageText& text, std::string_view path, WholeRange range,
                                        int index) {
  // Each element of a list is judged on its own.
  if (index < 0 && text.is_refused(path)) return std::nullopt;
  const std::int64_t value = text.whole(path, index);
  if (value >= range.low && value <= range.high) return value;
  text.refuse(path, "is not allowed", describe(range), {}, std::max(index, 0));
  return std::nullopt;
}

std::optional<double> check_quantity(MessageText& text, std::string_view path, Dimension dimension,
                                     Zero zero) {
  if (text.is_refused(path)) return std::nullopt;
  const ParsedQuantity quantity = parse_quantity(dimension, text.string(path));
  if (!quantity.value) {
    text.refuse(path, quantity.problem, quantity.allowed, quantity.nearest_unit);
    return std::nullopt;
  }
  if (*quantity.value > 0 || zero == Zero::allowed) return quantity.value;
  text.refuse(path, "is not allowed", describe(dimension) + ", greater than 0");
  return std::nullopt;
}

std::optional<std::uint64_t> check_bytes(MessageText& text, std::string_view path) {
  const std::optional<double> size = check_quantity(text, path, Dimension::size, Zero::refused);
  if (!size) return std::nullopt;
  const std::optional<std::uint64_t> bytes = whole_bytes(*size);
  if (!bytes) text.refuse(path, "is not allowed", "a size from \"1B\" to below \"8EiB\"");
  return bytes;
}

std::optional<double> require_number(MessageText& text, std::string_view path, NumberRange range) {
  if (!is_given(text, path, describe(range))) return std::nullopt;
  return check_number(text, path, range);
}

std::optional<std::int64_t> require_whole(MessageText& text, std::string_view path,
                                          WholeRange range) {
  if (!is_given(text, path, describe(range))) return std::nullopt;
  return check_whole(text, path, range);
}

std::optional<double> require_quantity(MessageText& text, std::string_view path,
                                       Dimension dimension, Zero zero) {
  if (!is_given(text, path, describe(dimension))) return std::nullopt;
  return check_quantity(text, path, dimension, zero);
}

std::optional<std::uint64_t> require_bytes(MessageText& text, std::string_view path) {
  if (!is_given(text, path, describe(Dimension::size))) return std::nullopt;
  return check_bytes(text, path);
}

}  // namespace shardscope
