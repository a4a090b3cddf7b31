// Numbers from a seed, by index: splitmix64 (Steele, Lea, Flood 2014), so that any part of any
// tensor can be made alone and is the same on every machine.
#pragma once

#include <cstdint>

namespace shardscope {

/// Output i = 0, 1, ... of splitmix64 seeded with `seed`.
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Uniform in [-1, 1): the upper 24 bits, exact in fp32. (As 32-bit integers, which loops convert
/// several at once.)
constexpr float uniform(std::uint64_t seed, std::uint64_t i) {
  const auto upper = static_cast<std::int32_t>(splitmix64(seed, i) >> 40);
  return static_cast<float>(upper - (std::int32_t{1} << 23)) * 0x1p-23F;
}

}  // namespace shardscope
