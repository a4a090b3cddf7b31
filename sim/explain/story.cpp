#include "sim/explain/story.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shardscope {
namespace {

bool is_same(const std::optional<float>& a, const std::optional<float>& b) {
  return a.has_value() == b.has_value() &&
         (!a.has_value() || std::bit_cast<std::uint32_t>(*a) == std::bit_cast<std::uint32_t>(*b));
}

}  // namespace

bool has_same_bits(const ElementValues& a, const ElementValues& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

}  // namespace shardscope
