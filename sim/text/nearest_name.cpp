#include "sim/text/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace shardscope {
namespace {

// A text much longer than any name is near to none; looking would cost time for nothing.
constexpr std::size_t kLongestName = 60;

bool equal_ignoring_case(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = equal_ignoring_case(a[i - 1], b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && equal_ignoring_case(a[i - 1], b[j - 2]) &&
          equal_ignoring_case(a[i - 2], b[j - 1])) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    std::swap(before_previous, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view text, std::span<const std::string> names) {
  if (text.size() > kLongestName) return {};
  const std::string* nearest = nullptr;
  std::size_t smallest = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < smallest) {
      smallest = distance;
      nearest = &name;
    }
  }
  return nearest == nullptr ? std::string() : *nearest;
}

}  // namespace shardscope
