#include "sim/scenario/values.h"

#include <string>

namespace shardscope {

std::int64_t Values::whole(const char* path, WholeRange range) {
  return check_whole(text_, path, range).value_or(1);
}

double Values::number(const char* path, NumberRange range) {
  return check_number(text_, path, range).value_or(1);
}

double Values::quantity(const char* path, Dimension dimension, Zero zero) {
  return check_quantity(text_, path, dimension, zero).value_or(1);
}

double Values::required_quantity(const char* path, Dimension dimension, Zero zero) {
  if (text_.has(path)) return quantity(path, dimension, zero);
  text_.report_missing(path, describe(dimension));
  return 1;
}

std::int64_t Values::required_whole(const char* path, WholeRange range) {
  if (text_.has(path)) return whole(path, range);
  text_.report_missing(path, "a whole number from " + std::to_string(range.low) + " to " +
                                 std::to_string(range.high));
  return 1;
}

std::optional<double> Values::optional_quantity(const char* path, Dimension dimension, Zero zero) {
  return text_.has(path) ? std::optional(quantity(path, dimension, zero)) : std::nullopt;
}

std::optional<std::int64_t> Values::optional_whole(const char* path, WholeRange range) {
  return text_.has(path) ? std::optional(whole(path, range)) : std::nullopt;
}

}  // namespace shardscope
