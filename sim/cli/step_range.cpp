#include "sim/cli/step_range.h"

#include <charconv>

namespace shardscope {
namespace {

std::optional<std::int64_t> parse_step(std::string_view text) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && step >= 1 ? std::optional(step) : std::nullopt;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> parse_steps(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_step(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : parse_step(text.substr(dots + 2));
  if (!first.has_value() || !last.has_value() || *first > *last) {
    return std::nullopt;
  }
  return std::pair(*first, *last);
}

}  // namespace shardscope
