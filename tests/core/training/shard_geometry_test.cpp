// Shards of every small model over every small cluster, more ranks than parameters included,
// against a twin that deals out elements one by one.

#include "core/training/shard_geometry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/training/formulas.h"
#include "tests/core/support/text.h"

namespace shardscope::testing {
namespace {

constexpr int kMaxWorld = 12;

// All models of one to three layers with widths of 1 to 3.
std::vector<ModelSpec> small_models() {
  std::vector<ModelSpec> models;
  for (std::size_t a = 1; a <= 3; ++a) {
    for (std::size_t b = 1; b <= 3; ++b) {
      models.push_back({.widths = {a, b}});
      for (std::size_t c = 1; c <= 3; ++c) {
        models.push_back({.widths = {a, b, c}});
        models.push_back({.widths = {a, b, c, 1 + (a + b + c) % 3}});
      }
    }
  }
  return models;
}

template <typename F>
void for_each_geometry(F&& f) {
  for (const Strategy& strategy : all_strategies()) {
    for (const ModelSpec& model : small_models()) {
      for (int world = 1; world <= kMaxWorld; ++world) {
        SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world) + ", " +
                     text(model));
        f(strategy, model, world);
      }
    }
  }
}

// The layers of each unit.
std::vector<std::vector<std::size_t>> layers_of_units(const Strategy& strategy,
                                                      std::size_t layers) {
  std::vector<std::vector<std::size_t>> units;
  for (std::size_t l = 0; l < layers; ++l) {
    if (units.empty() || strategy.name == "ZERO2" || strategy.name == "ZERO3") {
      units.emplace_back();
    }
    units.back().push_back(l);
  }
  return units;
}

// The smallest shard with which `world` ranks hold all elements.
std::size_t smallest_shard(std::size_t elements, int world) {
  std::size_t shard = 0;
  while (shard * static_cast<std::size_t>(world) < elements) {
    ++shard;
  }
  return shard;
}

TEST(ShardGeometry, IsThatOfItsTwin) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    const ShardGeometry geometry(strategy, model, world);
    const auto units = layers_of_units(strategy, model.layer_count());
    const bool ddp = strategy.name == "DDP";
    ASSERT_EQ(geometry.units().size(), units.size());
    std::size_t offset = 0;
    std::size_t full = 0;
    std::size_t owned = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
      const ShardUnit& unit = geometry.units()[u];
      std::size_t count = 0;
      for (const std::size_t l : units[u]) {
        EXPECT_EQ(&geometry.unit_of(l), &unit) << "layer " << l;
        EXPECT_EQ(geometry.offset_in_unit(l), count) << "layer " << l;
        count += model.widths[l] * model.widths[l + 1] + model.widths[l + 1];
      }
      const std::size_t shard = smallest_shard(count, world);
      EXPECT_EQ(unit.layers.first, units[u].front());
      EXPECT_EQ(unit.layers.last, units[u].back());
      EXPECT_EQ(unit.offset, offset);
      EXPECT_EQ(unit.count, count);
      EXPECT_EQ(unit.shard, shard);
      EXPECT_EQ(unit.full_offset, full);
      EXPECT_EQ(unit.full_count, ddp ? count : shard * static_cast<std::size_t>(world));
      EXPECT_EQ(unit.owned_offset, owned);
      EXPECT_EQ(unit.owned_count, ddp ? count : shard);
      offset += count;
      full += unit.full_count;
      owned += unit.owned_count;
    }
    EXPECT_EQ(offset, model.parameters());
    EXPECT_EQ(geometry.full_elements(), full);
    EXPECT_EQ(geometry.owned_elements(), owned);
  });
}

TEST(ShardGeometry, ShardsTileEachUnitWithThePaddingAtItsEnd) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    const ShardGeometry geometry(strategy, model, world);
    for (const ShardUnit& unit : geometry.units()) {
      std::vector<int> owners(unit.full_count);
      for (int rank = 0; rank < world; ++rank) {
        const std::size_t begin = geometry.owned_begin(unit, rank);
        const std::size_t parameters = geometry.owned_parameters(unit, rank);
        ASSERT_LE(begin + unit.owned_count, unit.full_count) << "rank " << rank;
        ASSERT_LE(parameters, unit.owned_count) << "rank " << rank;
        for (std::size_t i = 0; i < unit.owned_count; ++i) {
          ++owners[begin + i];
          EXPECT_EQ(i < parameters, begin + i < unit.count)
              << "rank " << rank << " takes padding for a parameter or the other way round, " << i;
        }
      }
      const int expected = strategy.name == "DDP" ? world : 1;
      for (std::size_t i = 0; i < owners.size(); ++i) {
        EXPECT_EQ(owners[i], expected) << "owners of element " << i;
      }
    }
  });
}

// What each strategy holds whole or as a shard, from the twin's shards.
TEST(PredictedStateBytes, AreThoseOfTheTwin) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    std::uint64_t whole = 0;
    std::uint64_t shard = 0;
    for (const auto& layers : layers_of_units(strategy, model.layer_count())) {
      std::size_t count = 0;
      for (const std::size_t l : layers) {
        count += model.layer(l).elements();
      }
      const std::size_t k = smallest_shard(count, world);
      shard += strategy.name == "DDP" ? count : k;
      whole += strategy.name == "DDP" ? count : k * static_cast<std::size_t>(world);
    }
    const bool zero3 = strategy.name == "ZERO3";
    const bool gradients_sharded = zero3 || strategy.name == "ZERO2";
    for (const DType precision : {DType::fp32, DType::bf16, DType::fp16}) {
      const std::uint64_t b = precision == DType::fp32 ? 4 : 2;
      const CategoryBytes expected = {b * (zero3 ? shard : whole),
                                      b * (gradients_sharded ? shard : whole),
                                      precision == DType::fp32 ? 0 : 4 * shard,
                                      4 * shard,
                                      4 * shard,
                                      0,
                                      0,
                                      0,
                                      0};
      EXPECT_EQ(predicted_state_bytes(strategy, model, world, precision), expected)
          << name(precision);
    }
  });
}

}  // namespace
}  // namespace shardscope::testing
