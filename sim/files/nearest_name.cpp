#include "sim/files/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace shardscope {
namespace {

/// Longer names are compared by their beginnings: a hostile one must not cost quadratic time.
constexpr std::size_t kLongestCompared = 100;

/// What a letter added, left out or replaced costs; one in the other case costs 1.
constexpr std::size_t kLetterCost = 4;

std::size_t substitution_cost(char a, char b) {
  if (a == b) {
    return 0;
  }
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? 1 : kLetterCost;
}

/// The Levenshtein distance with these costs.
std::size_t edit_cost(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) {
    row[j] = kLetterCost * j;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = kLetterCost * (i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t substituted = diagonal + substitution_cost(from[i], to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + kLetterCost, row[j] + kLetterCost});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  std::size_t smallest = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_cost(name.substr(0, kLongestCompared),
                                           std::string_view(candidate).substr(0, kLongestCompared));
    if (!nearest || distance < smallest) {
      nearest = candidate;
      smallest = distance;
    }
  }
  if (nearest && 3 * smallest > kLetterCost * nearest->size()) {
    nearest.reset();
  }
  return nearest;
}

}  // namespace shardscope
