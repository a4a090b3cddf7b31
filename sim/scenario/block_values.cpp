#include "sim/scenario/block_values.h"

#include <algorithm>

namespace shardscope {

std::optional<std::string> BlockValues::text(const std::string& path, bool is_given,
                                             const std::string& value) {
  if (!is_given) return std::nullopt;
  ++given_[path];
  return value;
}

std::optional<double> BlockValues::number(const std::string& path, bool is_given, double value,
                                          NumberRange range) {
  if (!is_given) return std::nullopt;
  ++given_[path];
  if (contains(range, value)) return value;
  refuse(path, "is not allowed", describe(range));
  return std::nullopt;
}

std::optional<double> BlockValues::quantity(const std::string& path, bool is_given,
                                            const std::string& value, Dimension dimension,
                                            Zero zero) {
  if (!is_given) return std::nullopt;
  ++given_[path];
  const ParsedQuantity quantity = parse_quantity(dimension, value);
  if (!quantity.value) {
    refuse(path, quantity.problem, quantity.allowed, quantity.nearest_unit);
    return std::nullopt;
  }
  if (*quantity.value > 0 || zero == Zero::allowed) return quantity.value;
  refuse(path, "is not allowed", describe(dimension) + ", greater than 0");
  return std::nullopt;
}

void BlockValues::refuse(const std::string& path, const std::string& problem,
                         const std::string& allowed, const std::string& nearest) {
  text_.refuse(path, problem, allowed, nearest, std::max(given_[path] - 1, 0));
}

void BlockValues::require(const std::string& block, const std::string& field, bool is_given,
                          const std::string& allowed) {
  const std::string path = block + "." + field;
  const int index = blocks_[path]++;
  if (index == 0) was_wrong_[path] = !lacking_.contains(block) && text_.is_refused(path);
  if (is_given || was_wrong_[path]) return;
  lacking_.insert(block);
  text_.refuse(block, "lacks " + field, allowed, {}, index);
}

}  // namespace shardscope
