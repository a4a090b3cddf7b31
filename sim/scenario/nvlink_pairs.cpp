#include "sim/scenario/nvlink_pairs.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace shardscope {
namespace {

constexpr std::size_t kMostLinks = 256;

// Takes a number and what must follow it off the text.
std::optional<std::size_t> take_number(std::string_view& text, std::string_view separator) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(separator)) return std::nullopt;
  text.remove_prefix(separator.size());
  return number;
}

}  // namespace

std::optional<NvlinkPair> parse_nvlink_pair(std::string_view text, std::size_t devices) {
  const std::optional<std::size_t> a = take_number(text, "-");
  if (!a) return std::nullopt;
  const bool has_links = text.find(' ') != std::string_view::npos;
  const std::optional<std::size_t> b = take_number(text, has_links ? " x" : "");
  const std::optional<std::size_t> links = has_links ? take_number(text, "") : 1;
  if (!b || !links || !text.empty()) return std::nullopt;
  if (*a == *b || *a >= devices || *b >= devices || *links == 0 || *links > kMostLinks) {
    return std::nullopt;
  }
  return NvlinkPair{*a, *b, *links};
}

std::string describe_nvlink_pair(std::size_t devices) {
  return "two of the devices 0 to " + std::to_string(devices - 1) +
         R"( and their links, such as "0-1" or "0-1 x2")";
}

std::string format_nvlink_pair(const NvlinkPair& pair) {
  return std::to_string(pair.a) + "-" + std::to_string(pair.b) +
         (pair.links == 1 ? "" : " x" + std::to_string(pair.links));
}

bool holds_pair(const std::vector<NvlinkPair>& pairs, const NvlinkPair& pair) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const NvlinkPair& other) {
    return std::minmax(other.a, other.b) == std::minmax(pair.a, pair.b);
  });
}

}  // namespace shardscope
