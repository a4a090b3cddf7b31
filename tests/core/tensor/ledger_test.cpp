#include "core/tensor/ledger.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>

#include "core/data/generator.h"
#include "core/tensor/buffer.h"

namespace shardscope::testing {
namespace {

std::uint64_t total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

TEST(MemoryLedger, FollowsRandomAllocationsAndReleases) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr std::uint64_t kCapacity = 2000;
    MemoryLedger ledger(kCapacity);
    CategoryBytes current{};
    CategoryBytes peak{};
    std::uint64_t peak_total = 0;
    int refused = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::size_t index = splitmix64(seed, 3 * i) % kCategoryCount;
      const auto category = static_cast<Category>(index);
      const std::uint64_t drawn = splitmix64(seed, 3 * i + 1) % 400;
      if (splitmix64(seed, 3 * i + 2) % 5 < 2) {
        const std::uint64_t bytes = std::min(drawn, current[index]);
        ledger.release(category, bytes);
        current[index] -= bytes;
      } else if (drawn <= kCapacity - total(current)) {
        ledger.allocate(category, drawn);
        current[index] += drawn;
      } else {
        ++refused;
        try {
          ledger.allocate(category, drawn);
          FAIL() << "more was allocated than there is";
        } catch (const OutOfMemory& error) {
          EXPECT_EQ(error.category, category);
          EXPECT_EQ(error.wanted_bytes, drawn);
          EXPECT_EQ(error.free_bytes, kCapacity - total(current));
        }
      }
      peak[index] = std::max(peak[index], current[index]);
      peak_total = std::max(peak_total, total(current));
      ASSERT_EQ(ledger.current(), current) << "after " << i;
      ASSERT_EQ(ledger.peak(), peak) << "after " << i;
      ASSERT_EQ(ledger.current_total(), total(current)) << "after " << i;
      ASSERT_EQ(ledger.peak_total(), peak_total) << "after " << i;
    }
    EXPECT_GT(refused, 0) << "nothing was ever refused";
  }
}

TEST(MemoryLedger, TakesTheLastByteAndNotOneMore) {
  MemoryLedger ledger(100);
  ledger.allocate(Category::gradients, 100);
  ledger.allocate(Category::inputs, 0);
  EXPECT_THROW(ledger.allocate(Category::inputs, 1), OutOfMemory);
  ledger.release(Category::gradients, 1);
  ledger.allocate(Category::inputs, 1);
  EXPECT_EQ(ledger.current_total(), 100U);
}

// A sum of sizes that wraps around would fit.
TEST(MemoryLedger, RefusesWhatOverflows) {
  MemoryLedger ledger;
  ledger.allocate(Category::inputs, 10);
  EXPECT_THROW(ledger.allocate(Category::inputs, MemoryLedger::kUnlimited), OutOfMemory);
  EXPECT_EQ(ledger.current_total(), 10U);
}

TEST(MemoryLedgerDeathTest, AbortsWhenMoreIsReleasedThanWasAllocated) {
  MemoryLedger ledger;
  ledger.allocate(Category::inputs, 10);
  ledger.allocate(Category::gradients, 10);
  EXPECT_DEATH(ledger.release(Category::inputs, 11), "more memory is released");
}

TEST(OutOfMemoryError, SaysWhatWasWantedAndWhatIsFree) {
  EXPECT_STREQ(OutOfMemory(Category::first_moment, 7, 3).what(),
               "out of memory: first_moment wants 7 bytes, 3 are free");
}

TEST(Buffer, IsRegisteredForAsLongAsItLives) {
  for (const Storage storage : {Storage::real, Storage::shape_only}) {
    MemoryLedger ledger;
    {
      Buffer a(ledger, Category::activations, DType::bf16, 5, storage);
      EXPECT_EQ(ledger.current_total(), 10U);
      EXPECT_EQ(a.tensor().is_real(), storage == Storage::real);
      Buffer b(std::move(a));
      EXPECT_EQ(ledger.current_total(), 10U) << "a move changes nothing";
      EXPECT_EQ(b.size(), 5U);
      Buffer c(ledger, Category::inputs, DType::int64, 3, storage);
      EXPECT_EQ(ledger.current_total(), 34U);
      c = std::move(b);
      EXPECT_EQ(ledger.current_total(), 10U) << "what was assigned over is released";
      EXPECT_EQ(c.size(), 5U);
    }
    EXPECT_EQ(ledger.current_total(), 0U);
    EXPECT_EQ(ledger.peak_total(), 34U);
  }
}

TEST(Buffer, IsAlignedAndZero) {
  for (std::size_t count = 0; count <= 70; ++count) {
    MemoryLedger ledger;
    const Buffer buffer(ledger, Category::inputs, DType::fp32, count, Storage::real);
    const Tensor tensor = buffer.tensor();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data) % 64, 0U);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(tensor.fp32()[i], 0.0F);
    }
  }
}

TEST(TensorDeathTest, ASliceThatLeavesItsTensorAborts) {
  float values[4] = {};
  const Tensor tensor = Tensor::of(values, 4);
  EXPECT_EQ(tensor.slice(4, 0).count, 0U);
  EXPECT_DEATH(tensor.slice(3, 2), "leaves its tensor");
  EXPECT_DEATH(tensor.slice(5, 0), "leaves its tensor");
  EXPECT_DEATH(tensor.slice(1, static_cast<std::size_t>(-1)), "leaves its tensor");
}

}  // namespace
}  // namespace shardscope::testing
