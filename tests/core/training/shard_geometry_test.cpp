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

bool has_owners(const Strategy& strategy) { return strategy.name == "ZERO_REDUNDANCY_OPTIMIZER"; }

bool cuts_nothing(const Strategy& strategy) {
  return strategy.name == "DDP" || strategy.name == "TORCH_DDP" ||
         strategy.name == "DEEPSPEED_STAGE0" || strategy.name == "FSDP_NO_SHARD";
}

std::size_t multiple(const Strategy& strategy) {
  return strategy.name == "DEEPSPEED_STAGE1" || strategy.name == "DEEPSPEED_STAGE2" ? 2 : 1;
}

// The tensors of each unit: 2l is W_l, 2l + 1 is b_l.
bool cuts_layers(const Strategy& strategy) {
  return strategy.name == "ZERO2" || strategy.name == "ZERO3" ||
         (strategy.name.starts_with("FSDP") && strategy.name != "FSDP_NO_SHARD");
}

bool cuts_tensors(const Strategy& strategy) {
  return strategy.name == "DEEPSPEED_STAGE3" || has_owners(strategy);
}

std::vector<std::vector<std::size_t>> tensors_of_units(const Strategy& strategy,
                                                       std::size_t tensors) {
  std::vector<std::vector<std::size_t>> units;
  for (std::size_t t = 0; t < tensors; ++t) {
    if (units.empty() || cuts_tensors(strategy) || (cuts_layers(strategy) && t % 2 == 0)) {
      units.emplace_back();
    }
    units.back().push_back(t);
  }
  return units;
}

std::size_t tensor_elements(const ModelSpec& model, std::size_t tensor) {
  const std::size_t in = model.widths[tensor / 2];
  const std::size_t out = model.widths[tensor / 2 + 1];
  return tensor % 2 == 0 ? in * out : out;
}

// The smallest shard, a multiple of `multiple`, with which `world` ranks hold all elements.
std::size_t smallest_shard(std::size_t elements, int world, std::size_t multiple) {
  std::size_t shard = 0;
  while (shard * static_cast<std::size_t>(world) < elements) {
    shard += multiple;
  }
  return shard;
}

TEST(ShardGeometry, IsThatOfItsTwin) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    const ShardGeometry geometry(strategy, model, world);
    const auto units = tensors_of_units(strategy, 2 * model.layer_count());
    const bool whole = cuts_nothing(strategy) || has_owners(strategy);
    ASSERT_EQ(geometry.units().size(), units.size());
    std::size_t offset = 0;
    std::size_t full = 0;
    std::size_t owned = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
      const ShardUnit& unit = geometry.units()[u];
      std::size_t count = 0;
      for (const std::size_t t : units[u]) {
        EXPECT_EQ(geometry.unit_of_tensor(t), u) << "tensor " << t;
        EXPECT_EQ(geometry.offset_in_unit(t), count) << "tensor " << t;
        EXPECT_EQ(geometry.tensor_offset(t), offset + count) << "tensor " << t;
        EXPECT_EQ(geometry.tensor_elements(t), tensor_elements(model, t)) << "tensor " << t;
        count += tensor_elements(model, t);
      }
      const std::size_t shard = whole ? count : smallest_shard(count, world, multiple(strategy));
      EXPECT_EQ(unit.layers.first, units[u].front() / 2);
      EXPECT_EQ(unit.layers.last, units[u].back() / 2);
      EXPECT_EQ(unit.offset, offset);
      EXPECT_EQ(unit.count, count);
      EXPECT_EQ(unit.shard, shard);
      EXPECT_EQ(unit.full_offset, full);
      EXPECT_EQ(unit.full_count, whole ? count : shard * static_cast<std::size_t>(world));
      if (!has_owners(strategy)) {
        EXPECT_EQ(geometry.owned(u, world - 1).offset, owned);
        EXPECT_EQ(geometry.owned(u, world - 1).count, shard);
      }
      offset += count;
      full += unit.full_count;
      owned += shard;
    }
    EXPECT_EQ(offset, model.parameters());
    EXPECT_EQ(geometry.full_elements(), full);
    if (!has_owners(strategy)) {
      EXPECT_EQ(geometry.owned_elements(0), owned);
    }
  });
}

TEST(ShardGeometry, ShardsTileEachUnitWithThePaddingAtItsEnd) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    const ShardGeometry geometry(strategy, model, world);
    for (std::size_t u = 0; u < geometry.units().size(); ++u) {
      const ShardUnit& unit = geometry.units()[u];
      std::vector<int> owners(unit.full_count);
      for (int rank = 0; rank < world; ++rank) {
        const OwnedPart own = geometry.owned(u, rank);
        ASSERT_LE(own.begin + own.count, unit.full_count) << "rank " << rank;
        ASSERT_LE(own.parameters, own.count) << "rank " << rank;
        for (std::size_t i = 0; i < own.count; ++i) {
          ++owners[own.begin + i];
          EXPECT_EQ(i < own.parameters, own.begin + i < unit.count)
              << "rank " << rank << " takes padding for a parameter or the other way round, " << i;
        }
      }
      const int expected = cuts_nothing(strategy) ? world : 1;
      for (std::size_t i = 0; i < owners.size(); ++i) {
        EXPECT_EQ(owners[i], expected) << "owners of element " << i;
      }
    }
  });
}

// A rank's parts lie one after another in its shard layout.
TEST(ShardGeometry, ShardLayoutsHaveNoGaps) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    const ShardGeometry geometry(strategy, model, world);
    for (int rank = 0; rank < world; ++rank) {
      std::size_t end = 0;
      for (std::size_t u = 0; u < geometry.units().size(); ++u) {
        const OwnedPart own = geometry.owned(u, rank);
        if (own.count > 0) {
          EXPECT_EQ(own.offset, end) << "unit " << u << " of rank " << rank;
          end += own.count;
        }
      }
      EXPECT_EQ(geometry.owned_elements(rank), end) << "rank " << rank;
    }
  });
}

// The largest tensor that is left goes to the rank that has least, the lowest one on a tie.
TEST(ShardGeometry, OwnersAreThoseOfTheZeroRedundancyOptimizer) {
  const Strategy& strategy = *find_strategy("ZERO_REDUNDANCY_OPTIMIZER");
  const ModelSpec model{{16, 64, 64, 8}, Activation::relu, Loss::mse};
  // W0 1024, b0 64, W1 4096, b1 64, W2 512, b2 8 on three ranks.
  const ShardGeometry geometry(strategy, model, 3);
  const std::vector<int> owners = {1, 2, 0, 2, 2, 2};
  for (std::size_t t = 0; t < owners.size(); ++t) {
    EXPECT_EQ(geometry.units()[t].owner, owners[t]) << "tensor " << t;
  }
}

// DeepSpeed pads a group to a multiple of 2N: 266240 elements on 768 ranks to 267264, shards of
// 348, with padding in the last three; 57 on two ranks to 60.
TEST(ShardGeometry, PadsDeepSpeedsGroupToTwiceTheRanks) {
  const Strategy& strategy = *find_strategy("DEEPSPEED_STAGE2");
  const ShardGeometry large(strategy, {{519, 512}, Activation::relu, Loss::mse}, 768);
  ASSERT_EQ(large.units().front().count, 266240U);
  EXPECT_EQ(large.full_elements(), 267264U);
  EXPECT_EQ(large.owned_elements(0), 348U);
  EXPECT_EQ(large.owned(0, 765).parameters, 20U);
  EXPECT_EQ(large.owned(0, 766).parameters, 0U);
  const ShardGeometry small(strategy, {{18, 3}, Activation::relu, Loss::mse}, 2);
  ASSERT_EQ(small.units().front().count, 57U);
  EXPECT_EQ(small.full_elements(), 60U);
}

// What each strategy holds whole or as a shard, from the twin's shards.
TEST(PredictedStateBytes, AreThoseOfTheTwin) {
  for_each_geometry([](const Strategy& strategy, const ModelSpec& model, int world) {
    if (has_owners(strategy) || strategy.shard_group_size > 0) {
      return;  // Ranks differ, or there are several groups.
    }
    std::uint64_t whole = 0;
    std::uint64_t shard = 0;
    for (const auto& tensors : tensors_of_units(strategy, 2 * model.layer_count())) {
      std::size_t count = 0;
      for (const std::size_t t : tensors) {
        count += tensor_elements(model, t);
      }
      const std::size_t k = smallest_shard(count, world, multiple(strategy));
      shard += cuts_nothing(strategy) ? count : k;
      whole += cuts_nothing(strategy) ? count : k * static_cast<std::size_t>(world);
    }
    const bool zero3 = strategy.name == "ZERO3" || strategy.name == "DEEPSPEED_STAGE3" ||
                       strategy.name == "FSDP_FULL_SHARD" || strategy.name == "FSDP_SHARD_GRAD_OP";
    const bool gradients_sharded =
        zero3 || strategy.name == "ZERO2" || strategy.name == "DEEPSPEED_STAGE2";
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
      TrainingOptions options;
      options.precision = precision;
      EXPECT_EQ(predicted_state_bytes({strategy, model, options, world, 0}), expected)
          << name(precision);
    }
  });
}

}  // namespace
}  // namespace shardscope::testing
