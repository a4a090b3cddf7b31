// Checks of single values of a MessageText. Each gives the value in base units, or reports the
// fault at the value's place and gives nothing. A field that is already known to be wrong gives
// nothing and no second fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/scenario/message_text.h"
#include "sim/text/quantity.h"

namespace shardscope {

/// Whether the end of a range belongs to it.
enum class Bound { inclusive, exclusive };

struct NumberRange {
  double low;
  Bound low_bound;
  double high;
  Bound high_bound;
};

struct WholeRange {
  std::int64_t low;
  std::int64_t high;
};

enum class Zero { allowed, refused };

/// Infinities and NaN are in no range.
bool contains(const NumberRange& range, double value);

/// "a number from 0 to below 1".
std::string describe(const NumberRange& range);

std::optional<double> check_number(MessageText& text, std::string_view path, NumberRange range);

/// A field, or element `index` of a repeated one.
std::optional<std::int64_t> check_whole(MessageText& text, std::string_view path, WholeRange range,
                                        int index = -1);

std::optional<double> check_quantity(MessageText& text, std::string_view path, Dimension dimension,
                                     Zero zero);

/// A size of at least one byte.
std::optional<std::uint64_t> check_bytes(MessageText& text, std::string_view path);

/// The same of fields that must be given. If one is missing, it is said what it takes.
std::optional<double> require_number(MessageText& text, std::string_view path, NumberRange range);
std::optional<std::int64_t> require_whole(MessageText& text, std::string_view path,
                                          WholeRange range);
std::optional<double> require_quantity(MessageText& text, std::string_view path,
                                       Dimension dimension, Zero zero);
std::optional<std::uint64_t> require_bytes(MessageText& text, std::string_view path);

}  // namespace shardscope
