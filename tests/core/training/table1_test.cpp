#include "tests/core/support/table1.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "core/training/formulas.h"

namespace shardscope::testing {
namespace {

TEST(ModelStateBytes, GiveTheZeroPapersTable1) {
  int cells = 0;
  for (const Table1Row& row : kTable1) {
    for (std::size_t m = 0; m < kTable1Models.size(); ++m) {
      for (std::size_t s = 0; s < kTable1Strategies.size(); ++s) {
        const CategoryBytes bytes = model_state_bytes(
            *find_strategy(kTable1Strategies[s]), kTable1Models[m], row.world_size, DType::bf16);
        const double gigabytes =
            static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0})) /
            1e9;
        const std::string printed = row.cells[m][s];
        // A hair more for shards that round up to whole elements.
        EXPECT_NEAR(gigabytes, std::stod(printed), last_digit(printed) * (1 + 1e-6))
            << kTable1Strategies[s] << ", " << kTable1Models[m] << " parameters on "
            << row.world_size;
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
