// Bytes that ranks send in an optimizer step, measured, as multiples of c P with c = (N-1)/N: the
// rows of the papers and frameworks, on a model whose every tensor the ranks divide.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

// Tensors of 512, 32, 512, 16, 768 and 48 elements: sixteen divides them all.
const ModelSpec& model() {
  static const ModelSpec three_layers{{16, 32, 16, 48}, Activation::relu, Loss::mse};
  return three_layers;
}

constexpr std::uint64_t kBytes = 2;  // bf16, parameters and gradients.

TrainingRun run(const Strategy& strategy, int world, std::size_t micro_batches) {
  TrainingOptions options;
  options.steps = 3;
  options.micro_batches = micro_batches;
  options.global_batch = micro_batches * static_cast<std::size_t>(world);
  options.precision = DType::bf16;
  options.reduce_precision = DType::bf16;
  options.storage = Storage::shape_only;
  const SyntheticWeights weights(model(), 1);
  const SyntheticBatches batches(model(), 1, options.global_batch);
  return train(strategy, model(), options, world, weights, batches);
}

// c times so many elements, in bytes.
std::uint64_t ring(std::uint64_t elements, int ranks) {
  const auto n = static_cast<std::uint64_t>(ranks);
  EXPECT_EQ(elements % n, 0U);
  return kBytes * (n - 1) * (elements / n);
}

// `first` and `later` times c P in the first step and those after it.
void expect_multiples(const Strategy& strategy, std::size_t g, std::uint64_t first,
                      std::uint64_t later) {
  for (const int world : {2, 4, 8}) {
    const std::uint64_t once = ring(model().parameters(), world);
    for (const RankRecord& rank : run(strategy, world, g).ranks) {
      EXPECT_EQ(rank.sent_bytes,
                (std::vector<std::uint64_t>{first * once, later * once, later * once}))
          << strategy.name << ", world " << world << ", " << g << " micro-steps";
    }
  }
}

// The preset as it is, and with buckets that hold a few tensors.
std::vector<Strategy> with_bucket_sizes(Strategy strategy) {
  std::vector<Strategy> all = {strategy};
  BucketRule& buckets = strategy.reduction.buckets;
  buckets.elements = std::min<std::uint64_t>(buckets.elements, 560);
  buckets.bytes = std::min<std::uint64_t>(buckets.bytes, 1100);
  buckets.first_bytes = std::min<std::uint64_t>(buckets.first_bytes, 100);
  all.push_back(strategy);
  return all;
}

using Change = std::function<void(Strategy&)>;
constexpr auto kAsItIs = [](Strategy&) {};

// Multiples of c P in g micro-steps: reductions in each and what is done once.
struct Row {
  const char* strategy;
  std::uint64_t each;
  std::uint64_t once;
  Change change = kAsItIs;
};

TEST(Wire, IsTheMultipleThatThePapersAndFrameworksSend) {
  const Change every_micro_step = [](Strategy& s) { s.reduction.every_micro_step = true; };
  const Change no_sync = [](Strategy& s) { s.reduction.every_micro_step = false; };
  const std::vector<Row> rows = {
      {"DDP", 0, 2},
      {"NAIVE_ZERO", 0, 3},
      {"ZERO1", 0, 2},
      {"ZERO2", 1, 1},
      {"ZERO3", 3, 0},
      {"TORCH_DDP", 0, 2},
      {"TORCH_DDP", 2, 0, every_micro_step},
      {"DEEPSPEED_STAGE0", 0, 2},
      {"DEEPSPEED_STAGE1", 0, 3},
      {"DEEPSPEED_STAGE2", 2, 1},
      {"FSDP_FULL_SHARD", 3, 0},
      {"FSDP_SHARD_GRAD_OP", 2, 0},
      {"FSDP_NO_SHARD", 2, 0},
      {"FSDP_NO_SHARD", 0, 2, no_sync},
  };
  for (const Row& row : rows) {
    Strategy preset = *find_strategy(row.strategy);
    row.change(preset);
    for (const Strategy& strategy : with_bucket_sizes(preset)) {
      for (const std::size_t g : {1, 4, 8}) {
        const std::uint64_t multiple = row.each * g + row.once;
        expect_multiples(strategy, g, multiple, multiple);
      }
    }
  }
}

// At g = 8 stage 2 sends 17 c P, stage 1 sends 3 (DeepSpeed#2252); 9 and 2 with the papers' stages.
TEST(Wire, OfStage2GrowsWithAccumulation) {
  expect_multiples(*find_strategy("DEEPSPEED_STAGE2"), 8, 17, 17);
  expect_multiples(*find_strategy("DEEPSPEED_STAGE1"), 8, 3, 3);
  expect_multiples(*find_strategy("ZERO2"), 8, 9, 9);
  expect_multiples(*find_strategy("ZERO1"), 8, 2, 2);
}

Strategy stage3(std::uint64_t threshold) {
  Strategy strategy = *find_strategy("DEEPSPEED_STAGE3");
  strategy.gather.persistence_threshold = threshold;
  return strategy;
}

Strategy without_reuse(Strategy strategy) {
  strategy.gather.prefetch_elements = 0;
  strategy.gather.max_reuse_distance = 0;
  return strategy;
}

// A small model is gathered once where DeepSpeed can follow its trace.
TEST(Wire, OfStage3IsThatOfASmallModelOnceThereIsATrace) {
  for (const std::size_t g : {1, 4, 8}) {
    for (const Strategy& strategy : with_bucket_sizes(stage3(0))) {
      expect_multiples(strategy, g, 3 * g, 2 * g);
      expect_multiples(without_reuse(strategy), g, 3 * g, 3 * g);
    }
    Strategy all_reduced = without_reuse(stage3(0));
    all_reduced.reduction.collective = Reduction::all_reduce;
    for (const Strategy& strategy : with_bucket_sizes(all_reduced)) {
      expect_multiples(strategy, g, 4 * g, 4 * g);
    }
  }
}

// g (c P + 2 c (P - P_p)) + c P_p: what persists is not gathered, but published after the update.
TEST(Wire, OfStage3SparesThePersistentParameters) {
  const auto expect = [](std::uint64_t threshold, std::uint64_t persistent) {
    const std::uint64_t all = model().parameters();
    for (const int world : {2, 4, 8}) {
      for (const std::size_t g : {1, 4, 8}) {
        const std::uint64_t with_release =
            g * (ring(all, world) + 2 * ring(all - persistent, world)) + ring(persistent, world);
        const std::uint64_t with_reuse =
            g * (ring(all, world) + ring(all - persistent, world)) + ring(persistent, world);
        SCOPED_TRACE("threshold " + std::to_string(threshold) + ", world " + std::to_string(world) +
                     ", " + std::to_string(g) + " micro-steps");
        for (const RankRecord& rank : run(stage3(threshold), world, g).ranks) {
          EXPECT_EQ(rank.sent_bytes,
                    (std::vector<std::uint64_t>{with_release, with_reuse, with_reuse}));
        }
        for (const RankRecord& rank : run(without_reuse(stage3(threshold)), world, g).ranks) {
          EXPECT_EQ(rank.sent_bytes, std::vector<std::uint64_t>(3, with_release));
        }
      }
    }
  };
  expect(0, 0);
  expect(48, 32 + 16 + 48);
  expect(512, 32 + 16 + 48 + 2 * 512);
  expect(100'000, model().parameters());
}

// Inside groups of F all that FULL_SHARD sends; across R groups an all_reduce of the shard.
TEST(Wire, OfHybridShardIsThatOfBothKindsOfGroups) {
  constexpr int kInside = 4;
  constexpr int kAcross = 2;
  for (const bool every_micro_step : {true, false}) {
    Strategy strategy = *find_strategy("FSDP_HYBRID_SHARD");
    strategy.shard_group_size = kInside;
    strategy.reduce_across_every_micro_step = every_micro_step;
    for (const std::size_t g : {1, 4, 8}) {
      const TrainingRun training = run(strategy, kInside * kAcross, g);
      const std::uint64_t inside = g * 3 * ring(model().parameters(), kInside);
      const std::uint64_t across =
          (every_micro_step ? g : 1) * 2 * ring(model().parameters() / kInside, kAcross);
      for (int rank = 0; rank < kInside * kAcross; ++rank) {
        std::map<bool, std::uint64_t> sent;  // By whether the peer is in the rank's group.
        for (const auto& [peer, bytes] :
             training.ranks[static_cast<std::size_t>(rank)].sent_bytes_to) {
          sent[peer / kInside == rank / kInside] += bytes;
        }
        EXPECT_EQ(sent[true], 3 * inside) << "rank " << rank << ", " << g << " micro-steps";
        EXPECT_EQ(sent[false], 3 * across) << "rank " << rank << ", " << g << " micro-steps";
      }
    }
  }
}

// Owners, the largest tensor first to the rank that has least, by hand. Every tensor is passed on
// round the ring from its owner; the rank before the owner passes it on no more.
TEST(Wire, OfTheZeroRedundancyOptimizerIsThatOfItsOwners) {
  const std::vector<std::uint64_t> elements = {512, 32, 512, 16, 768, 48};  // W0, b0, W1, ..
  const std::map<int, std::vector<int>> owners = {
      {2, {1, 0, 1, 0, 0, 0}}, {4, {1, 3, 2, 3, 0, 3}}, {8, {1, 4, 2, 5, 0, 3}}};
  for (const Strategy& strategy : with_bucket_sizes(*find_strategy("ZERO_REDUNDANCY_OPTIMIZER"))) {
    for (const auto& [world, owner] : owners) {
      for (const std::size_t g : {1, 8}) {
        const TrainingRun training = run(strategy, world, g);
        for (int rank = 0; rank < world; ++rank) {
          std::uint64_t expected = 2 * ring(model().parameters(), world);
          for (std::size_t tensor = 0; tensor < elements.size(); ++tensor) {
            expected += (rank + 1) % world == owner[tensor] ? 0 : kBytes * elements[tensor];
          }
          EXPECT_EQ(training.ranks[static_cast<std::size_t>(rank)].sent_bytes,
                    std::vector<std::uint64_t>(3, expected))
              << "rank " << rank << " of " << world;
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
