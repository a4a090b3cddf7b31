// Table 1 of the ZeRO paper (Rajbhandari et al. 2020, arXiv 1910.02054): model states per device in
// GB = 1e9 bytes, mixed-precision Adam.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shardscope::testing {

inline constexpr std::array kTable1Models = {
    std::uint64_t{7'500'000'000}, std::uint64_t{128'000'000'000}, std::uint64_t{1'000'000'000'000}};
inline constexpr std::array kTable1Strategies = {"ZERO1", "ZERO2", "ZERO3"};  // os, os+g, os+g+p

struct Table1Row {
  int world_size;
  std::array<std::array<const char*, 3>, 3> cells;  // Of each model, by strategy; as printed.
};

inline constexpr Table1Row kTable1[] = {
    {1, {{{"120", "120", "120"}, {"2048", "2048", "2048"}, {"16000", "16000", "16000"}}}},
    {4, {{{"52.5", "41.3", "30"}, {"896", "704", "512"}, {"7000", "5500", "4000"}}}},
    {16, {{{"35.6", "21.6", "7.5"}, {"608", "368", "128"}, {"4750", "2875", "1000"}}}},
    {64, {{{"31.4", "16.6", "1.88"}, {"536", "284", "32"}, {"4187", "2218", "250"}}}},
    {256, {{{"30.4", "15.4", "0.47"}, {"518", "263", "8"}, {"4046", "2054", "62.5"}}}},
    {1024, {{{"30.1", "15.1", "0.12"}, {"513", "257", "2"}, {"4011", "2013", "15.6"}}}},
};

/// The value of one unit in the last printed digit.
inline double last_digit(const std::string& printed) {
  const std::size_t point = printed.find('.');
  return point == std::string::npos
             ? 1.0
             : std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
}

}  // namespace shardscope::testing
