// The half types, bit by bit: what their 16 bits stand for, and how fp32 is rounded to them (to
// nearest, ties to even, overflow to infinity; NaN stays NaN). No branches, so that loops over them
// become vector instructions on every machine, with the same bits as one by one.
#pragma once

#include <bit>
#include <cstdint>

namespace shardscope {

/// 1 sign, 8 exponent, 7 fraction bits: the upper half of an fp32.
struct BFloat16 {
  std::uint16_t bits;
};

/// 1 sign, 5 exponent, 10 fraction bits (IEEE 754 binary16).
struct Float16 {
  std::uint16_t bits;
};

/// condition ? a : b, computed without a branch: compilers move floating-point work into branches,
/// and loops with branches stay scalar.
inline std::uint32_t choose(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

inline float to_float(float value) { return value; }

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// A normal number gets fp32's exponent bias by a product, a subnormal one is what is left of
// 0.5 + value; both exact.
inline float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = value.bits & 0x7FFFU;
  const float normal = std::bit_cast<float>((magnitude << 13) + (224U << 23)) * 0x1p-112F;
  const float subnormal = std::bit_cast<float>(magnitude | (126U << 23)) - 0.5F;
  const std::uint32_t bits = choose(magnitude < 0x400U, std::bit_cast<std::uint32_t>(subnormal),
                                    std::bit_cast<std::uint32_t>(normal));
  return std::bit_cast<float>(sign | bits);
}

inline void round_to(float value, float& result) { result = value; }

// Adds just under half of the last place kept, and the rest if that place is odd.
inline void round_to(float value, BFloat16& result) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40U;
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  result.bits = static_cast<std::uint16_t>(choose(is_nan, nan, rounded));
}

// The fp32 adder rounds: next to a number 2^13 last places above it (at least half's smallest
// normal one) only the bits that half keeps are left. The two products before turn what overflows
// half into infinity.
inline void round_to(float value, Float16& result) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p+112F * 0x1p-110F;
  const std::uint32_t exponent = magnitude & 0x7F800000U;
  const std::uint32_t anchor = (exponent < (113U << 23) ? (113U << 23) : exponent) + (15U << 23);
  const auto sum = std::bit_cast<std::uint32_t>(std::bit_cast<float>(anchor) + scaled);
  const std::uint32_t rounded = ((sum >> 13) & 0x7C00U) + (sum & 0x0FFFU);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const bool is_nan = magnitude > 0x7F800000U;
  result.bits = static_cast<std::uint16_t>(sign | choose(is_nan, 0x7E00U, rounded));
}

}  // namespace shardscope
