// Table 1 of the ZeRO paper (Rajbhandari et al. 2020, arXiv 1910.02054): model states per device in
// GB = 1e9 bytes, mixed-precision Adam.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

#include "core/training/formulas.h"

namespace shardscope::testing {
namespace {

constexpr std::array kModels = {std::uint64_t{7'500'000'000}, std::uint64_t{128'000'000'000},
                                std::uint64_t{1'000'000'000'000}};
constexpr std::array kStrategies = {"ZERO1", "ZERO2", "ZERO3"};  // os, os+g, os+g+p

struct TableRow {
  int world_size;
  std::array<std::array<const char*, 3>, 3> cells;  // Of each model, by strategy; as printed.
};

constexpr TableRow kTable[] = {
    {1, {{{"120", "120", "120"}, {"2048", "2048", "2048"}, {"16000", "16000", "16000"}}}},
    {4, {{{"52.5", "41.3", "30"}, {"896", "704", "512"}, {"7000", "5500", "4000"}}}},
    {16, {{{"35.6", "21.6", "7.5"}, {"608", "368", "128"}, {"4750", "2875", "1000"}}}},
    {64, {{{"31.4", "16.6", "1.88"}, {"536", "284", "32"}, {"4187", "2218", "250"}}}},
    {256, {{{"30.4", "15.4", "0.47"}, {"518", "263", "8"}, {"4046", "2054", "62.5"}}}},
    {1024, {{{"30.1", "15.1", "0.12"}, {"513", "257", "2"}, {"4011", "2013", "15.6"}}}},
};

// The value of one unit in the last printed digit.
double last_digit(const std::string& printed) {
  const std::size_t point = printed.find('.');
  return point == std::string::npos
             ? 1.0
             : std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
}

TEST(ModelStateBytes, GiveTheZeroPapersTable1) {
  int cells = 0;
  for (const TableRow& row : kTable) {
    for (std::size_t m = 0; m < kModels.size(); ++m) {
      for (std::size_t s = 0; s < kStrategies.size(); ++s) {
        const CategoryBytes bytes = model_state_bytes(*find_strategy(kStrategies[s]), kModels[m],
                                                      row.world_size, DType::bf16);
        const double gigabytes =
            static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0})) /
            1e9;
        const std::string printed = row.cells[m][s];
        // A hair more for shards that round up to whole elements.
        EXPECT_NEAR(gigabytes, std::stod(printed), last_digit(printed) * (1 + 1e-6))
            << kStrategies[s] << ", " << kModels[m] << " parameters on " << row.world_size;
        ++cells;
      }
    }
  }
  EXPECT_EQ(cells, 54);
}

TEST(ModelStateBytes, AreSixteenPerParameterWithoutSharding) {
  for (const DType precision : {DType::fp32, DType::bf16, DType::fp16}) {
    for (const int world : {1, 8, 1000}) {
      const CategoryBytes bytes =
          model_state_bytes(*find_strategy("DDP"), 7'000'000'001, world, precision);
      EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}), 16U * 7'000'000'001);
    }
  }
}

// The optimizer's share of 7 billion parameters in mixed precision is 84 GB: master weights and two
// moments, 12 bytes each.
TEST(ModelStateBytes, OptimizerTakesTwelveBytesPerParameter) {
  const CategoryBytes bytes =
      model_state_bytes(*find_strategy("DDP"), 7'000'000'000, 1, DType::bf16);
  EXPECT_EQ(bytes[2] + bytes[3] + bytes[4], 84'000'000'000U);
}

}  // namespace
}  // namespace shardscope::testing
