#include "sim/scenario/rank_list.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace shardscope {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<int> rank(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return good ? std::optional(value) : std::nullopt;
}

}  // namespace

RankList parse_rank_list(const std::string& text, int world_size) {
  RankList list;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    const std::size_t dash = part.find('-');
    const std::optional<int> first = rank(part.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : rank(part.substr(dash + 1));
    if (!first || !last || *last < *first) return {{}, "is no list of ranks"};
    if (*last >= world_size) {
      return {{}, "has rank " + std::to_string(*last) + " of " + std::to_string(world_size)};
    }
    for (int r = *first; r <= *last; ++r) list.ranks.push_back(r);
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace shardscope
