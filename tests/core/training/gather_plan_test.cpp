// What is gathered when, of a model of four layers, by hand.

#include "core/training/gather_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "tests/core/support/small_strategies.h"

namespace shardscope::testing {
namespace {

// Layers of a W of 4 elements and a b of 2.
const ModelSpec& model() {
  static const ModelSpec four_layers{{2, 2, 2, 2, 2}, Activation::relu, Loss::mse};
  return four_layers;
}

std::string text(const LayerUse& use) {
  constexpr const char* kNames[] = {"F", "R", "B"};
  return kNames[static_cast<int>(use.kind)] + std::to_string(use.layer);
}

// "+" fetched, "~" prefetched, "-" released; units by number, or W0, b0, .. where they are tensors.
class Text {
 public:
  explicit Text(const ShardGeometry& geometry) : geometry_(geometry) {}

  std::string of(const LayerUse& use, const GatherStep& step) const {
    std::string all = text(use);
    all += step.fetch.empty() ? "" : " +" + units(step.fetch);
    for (const std::vector<std::size_t>& prefetched : step.prefetch) {
      all += " ~" + units(prefetched);
    }
    return all + (step.release.empty() ? "" : " -" + units(step.release));
  }

 private:
  std::string units(const std::vector<std::size_t>& units) const {
    std::string all;
    for (const std::size_t u : units) {
      const bool is_tensor = geometry_.units().size() > model().layer_count();
      const std::string kind = !is_tensor ? "" : (u % 2 == 0 ? "W" : "b");
      all += (all.empty() ? "" : ",") + kind + std::to_string(is_tensor ? u / 2 : u);
    }
    return all;
  }

  const ShardGeometry& geometry_;
};

using Plan = std::vector<std::string>;

Plan plan(const Strategy& strategy, bool first_step = false, std::size_t checkpointing = 0) {
  const ShardGeometry geometry(strategy, model(), 2);
  const std::vector<LayerUse> uses = ActivationCheckpoints(model(), checkpointing).uses();
  const std::vector<GatherStep> steps = make_gather_plan(strategy, geometry, uses, first_step);
  Plan all;
  for (std::size_t use = 0; use < steps.size(); ++use) {
    all.push_back(Text(geometry).of(uses[use], steps[use]));
  }
  return all;
}

TEST(LayerUses, RecomputeEachSegmentBeforeItsBackward) {
  const auto uses = [](std::size_t layers, std::size_t checkpointing) {
    std::string all;
    ModelSpec model;
    model.widths.assign(layers + 1, 2);
    for (const LayerUse& use : ActivationCheckpoints(model, checkpointing).uses()) {
      all += (all.empty() ? "" : " ") + text(use);
    }
    return all;
  };
  EXPECT_EQ(uses(1, 0), "F0 B0");
  EXPECT_EQ(uses(4, 0), "F0 F1 F2 F3 B3 B2 B1 B0");
  EXPECT_EQ(uses(4, 1), "F0 F1 F2 F3 R3 B3 R2 B2 R1 B1 R0 B0");
  EXPECT_EQ(uses(4, 2), "F0 F1 F2 F3 R2 R3 B3 B2 R0 R1 B1 B0");
  EXPECT_EQ(uses(4, 3), "F0 F1 F2 F3 R3 B3 R0 R1 R2 B2 B1 B0");
  EXPECT_EQ(uses(4, 4), "F0 F1 F2 F3 R0 R1 R2 R3 B3 B2 B1 B0");
  EXPECT_EQ(uses(4, 9), uses(4, 4));
}

TEST(GatherPlan, IsEmptyWhereParametersAreReplicated) {
  for (const Strategy& strategy : all_strategies()) {
    EXPECT_EQ(plan(strategy).empty(), strategy.parameters == Placement::replicated)
        << strategy.name;
  }
}

TEST(GatherPlan, OfZero3GathersBeforeEachUse) {
  const Strategy& zero3 = *find_strategy("ZERO3");
  EXPECT_EQ(plan(zero3), (Plan{"F0 +0 -0", "F1 +1 -1", "F2 +2 -2", "F3 +3 -3", "B3 +3 -3",
                               "B2 +2 -2", "B1 +1 -1", "B0 +0 -0"}));
  EXPECT_EQ(plan(zero3, true), plan(zero3));
}

// The layer that was recomputed last is kept for its backward, which follows at once.
TEST(GatherPlan, OfZero3GathersForRecomputation) {
  const Strategy& zero3 = *find_strategy("ZERO3");
  EXPECT_EQ(plan(zero3, false, 1),
            (Plan{"F0 +0 -0", "F1 +1 -1", "F2 +2 -2", "F3 +3 -3", "R3 +3", "B3 -3", "R2 +2",
                  "B2 -2", "R1 +1", "B1 -1", "R0 +0", "B0 -0"}));
  EXPECT_EQ(plan(zero3, false, 2),
            (Plan{"F0 +0 -0", "F1 +1 -1", "F2 +2 -2", "F3 +3 -3", "R2 +2 -2", "R3 +3", "B3 -3",
                  "B2 +2 -2", "R0 +0 -0", "R1 +1", "B1 -1", "B0 +0 -0"}));
}

TEST(GatherPlan, OfFsdpPrefetchesTheNextLayerOfThePass) {
  EXPECT_EQ(plan(*find_strategy("FSDP_FULL_SHARD")),
            (Plan{"F0 +0 ~1 -0", "F1 ~2 -1", "F2 ~3 -2", "F3 -3", "B3 +3 ~2 -3", "B2 ~1 -2",
                  "B1 ~0 -1", "B0 -0"}));
  EXPECT_EQ(plan(*find_strategy("FSDP_SHARD_GRAD_OP")),
            (Plan{"F0 +0 ~1", "F1 ~2", "F2 ~3", "F3", "B3 -3", "B2 -2", "B1 -1", "B0 -0"}));
  EXPECT_EQ(plan(*find_strategy("FSDP_HYBRID_SHARD")), plan(*find_strategy("FSDP_FULL_SHARD")));
}

TEST(GatherPlan, OfFsdpPrefetchesForRecomputation) {
  EXPECT_EQ(plan(*find_strategy("FSDP_FULL_SHARD"), false, 1),
            (Plan{"F0 +0 ~1 -0", "F1 ~2 -1", "F2 ~3 -2", "F3 -3", "R3 +3", "B3 ~2 -3", "R2",
                  "B2 ~1 -2", "R1", "B1 ~0 -1", "R0", "B0 -0"}));
  EXPECT_EQ(plan(*find_strategy("FSDP_FULL_SHARD"), false, 2),
            (Plan{"F0 +0 ~1 -0", "F1 ~2 -1", "F2 ~3 -2", "F3 -3", "R2 +2 ~3 -2", "R3", "B3 ~2 -3",
                  "B2 ~0 -2", "R0 ~1 -0", "R1", "B1 ~0 -1", "B0 -0"}));
}

// Three layers ahead, but only two gathers under way; one that is waited for makes room.
TEST(GatherPlan, OfFsdpKeepsToTheGathersInFlight) {
  Strategy strategy = *find_strategy("FSDP_FULL_SHARD");
  strategy.gather.prefetch_layers = 3;
  EXPECT_EQ(plan(strategy), (Plan{"F0 +0 ~1 ~2 -0", "F1 ~3 -1", "F2 -2", "F3 -3", "B3 +3 ~2 ~1 -3",
                                  "B2 ~0 -2", "B1 -1", "B0 -0"}));
  strategy.gather.max_in_flight = 1;
  EXPECT_EQ(plan(strategy), plan(*find_strategy("FSDP_FULL_SHARD")));
  strategy.gather.max_in_flight = 9;
  EXPECT_EQ(plan(strategy), (Plan{"F0 +0 ~1 ~2 ~3 -0", "F1 -1", "F2 -2", "F3 -3",
                                  "B3 +3 ~2 ~1 ~0 -3", "B2 -2", "B1 -1", "B0 -0"}));
}

Strategy stage3(std::uint64_t prefetch, std::uint64_t threshold, std::uint64_t reuse) {
  Strategy strategy = *find_strategy("DEEPSPEED_STAGE3");
  strategy.gather.prefetch_elements = prefetch;
  strategy.gather.persistence_threshold = threshold;
  strategy.gather.max_reuse_distance = reuse;
  return strategy;
}

TEST(GatherPlan, OfStage3WithoutPrefetchAndReuseGathersBeforeEachUse) {
  const Plan all = {"F0 +W0,b0 -W0,b0", "F1 +W1,b1 -W1,b1", "F2 +W2,b2 -W2,b2", "F3 +W3,b3 -W3,b3",
                    "B3 +W3,b3 -W3,b3", "B2 +W2,b2 -W2,b2", "B1 +W1,b1 -W1,b1", "B0 +W0,b0 -W0,b0"};
  EXPECT_EQ(plan(stage3(0, 0, 0)), all);
  EXPECT_EQ(plan(stage3(0, 0, 0), true), all);
  EXPECT_EQ(plan(stage3(50, 0, 50), true), all) << "the first step has no trace";
  const Plan weights = {"F0 +W0 -W0", "F1 +W1 -W1", "F2 +W2 -W2", "F3 +W3 -W3",
                        "B3 +W3 -W3", "B2 +W2 -W2", "B1 +W1 -W1", "B0 +W0 -W0"};
  EXPECT_EQ(plan(stage3(0, 2, 0)), weights) << "tensors of 2 elements persist";
  EXPECT_EQ(plan(stage3(0, 1, 0)), all);
  EXPECT_EQ(plan(stage3(0, 4, 0)), (Plan{"F0", "F1", "F2", "F3", "B3", "B2", "B1", "B0"}));
}

// After layer 2's forward come layers 3, 3 and 2: it is used again after 12 elements.
TEST(GatherPlan, OfStage3KeepsWhatIsUsedAgainWithinTheReuseDistance) {
  const auto all = [](std::size_t kept_from) {
    Plan plan;
    for (std::size_t l = 0; l < 4; ++l) {
      const std::string w = "W" + std::to_string(l);
      plan.push_back("F" + std::to_string(l) + " +" + w + (l < kept_from ? " -" + w : ""));
    }
    for (std::size_t l = 4; l-- > 0;) {
      const std::string w = "W" + std::to_string(l);
      plan.push_back("B" + std::to_string(l) + (l < kept_from ? " +" + w : "") + " -" + w);
    }
    return plan;
  };
  EXPECT_EQ(plan(stage3(0, 2, 0)), all(4));
  for (const std::uint64_t reuse : {1, 6, 12}) {
    EXPECT_EQ(plan(stage3(0, 2, reuse)), all(3)) << reuse;
  }
  for (const std::uint64_t reuse : {13, 24}) {
    EXPECT_EQ(plan(stage3(0, 2, reuse)), all(2)) << reuse;
  }
  for (const std::uint64_t reuse : {25, 36}) {
    EXPECT_EQ(plan(stage3(0, 2, reuse)), all(1)) << reuse;
  }
  for (const std::uint64_t reuse : {37, 1'000'000'000}) {
    EXPECT_EQ(plan(stage3(0, 2, reuse)), all(0)) << reuse;
  }
}

// Tensors in the order of the trace until they are enough; W3, there already when layer 3 computes
// forward, is kept for the backward it is fetched for.
TEST(GatherPlan, OfStage3PrefetchesInTheOrderOfTheTrace) {
  EXPECT_EQ(plan(stage3(4, 2, 0)), (Plan{"F0 +W0 ~W1 -W0", "F1 ~W2 -W1", "F2 ~W3 -W2", "F3 ~W2",
                                         "B3 ~W1 -W3", "B2 ~W0 -W2", "B1 -W1", "B0 -W0"}));
  // One tensor more than 4 elements, in one all_gather. When layer 1 computes forward, W3, W2 and
  // W1 itself are there: they are kept for backward, and the trace is followed as far as W0.
  EXPECT_EQ(plan(stage3(5, 2, 0)), (Plan{"F0 +W0 ~W1,W2 -W0", "F1 ~W3,W0", "F2", "F3", "B3 -W3",
                                         "B2 -W2", "B1 -W1", "B0 -W0"}));
  // b too: after W1 and b1 there are 6 elements.
  EXPECT_EQ(plan(stage3(6, 0, 0)),
            (Plan{"F0 +W0,b0 ~W1,b1 -W0,b0", "F1 ~W2,b2 -W1,b1", "F2 ~W3,b3 -W2,b2", "F3 ~W2,b2",
                  "B3 ~W1,b1 -W3,b3", "B2 ~W0,b0 -W2,b2", "B1 -W1,b1", "B0 -W0,b0"}));
}

TEST(GatherPlan, OfStage3PrefetchesOnlyBelowTheLiveParameters) {
  Strategy strategy = stage3(100, 2, 0);
  strategy.gather.max_live_parameters = 4;
  EXPECT_EQ(plan(strategy), plan(stage3(0, 2, 0))) << "the layer itself is all there may be";
  // When layer 3's backward begins there are W3 and W2.
  const Plan two = {"F0 +W0 ~W1 -W0", "F1 ~W2 -W1", "F2 ~W3 -W2", "F3 ~W2",
                    "B3 -W3",         "B2 ~W1 -W2", "B1 ~W0 -W1", "B0 -W0"};
  strategy.gather.max_live_parameters = 8;
  EXPECT_EQ(plan(strategy), two);
  // A tensor that exceeds the room is the last, not left out.
  strategy.gather.max_live_parameters = 5;
  EXPECT_EQ(plan(strategy), two);
}

// Whatever the options: a use finds its units, nothing is gathered twice, and nothing is left.
TEST(GatherPlan, GathersEveryUnitBeforeItsUseAndReleasesItAfterTheLast) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const ModelSpec random{std::vector<std::size_t>(2 + splitmix64(seed, 0) % 7, 2),
                           Activation::relu, Loss::mse};
    const auto uses = ActivationCheckpoints(random, splitmix64(seed, 1) % 5).uses();
    for (const Strategy& strategy : random_strategies(seed)) {
      const ShardGeometry geometry(strategy, random, 3);
      for (const bool first_step : {true, false}) {
        SCOPED_TRACE(std::string(strategy.name) + ", seed " + std::to_string(seed));
        const auto steps = make_gather_plan(strategy, geometry, uses, first_step);
        std::set<std::size_t> persistent;
        for (std::size_t u = 0; u < geometry.units().size(); ++u) {
          if (is_persistent(strategy, geometry.units()[u])) {
            persistent.insert(u);
          }
        }
        std::set<std::size_t> gathered = persistent;
        for (std::size_t use = 0; use < steps.size(); ++use) {
          for (const std::size_t unit : steps[use].fetch) {
            EXPECT_TRUE(gathered.insert(unit).second) << "fetched twice";
          }
          for (const std::size_t tensor : {2 * uses[use].layer, 2 * uses[use].layer + 1}) {
            EXPECT_TRUE(gathered.contains(geometry.unit_of_tensor(tensor))) << "not there";
          }
          for (const auto& units : steps[use].prefetch) {
            EXPECT_FALSE(units.empty());
            for (const std::size_t unit : units) {
              EXPECT_TRUE(gathered.insert(unit).second) << "prefetched twice";
            }
          }
          for (const std::size_t unit : steps[use].release) {
            EXPECT_EQ(gathered.erase(unit), 1U) << "released twice";
          }
        }
        EXPECT_TRUE(steps.empty() || gathered == persistent) << "left at the end";
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
