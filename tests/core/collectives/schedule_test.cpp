// Schedules as data: what they promise can be checked without running one.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "core/collectives/closed_forms.h"
#include "core/data/generator.h"
#include "tests/core/support/plans.h"
#include "tests/core/support/sanitized.h"
#include "tests/core/support/stated_order.h"

namespace shardscope::testing {
namespace {

constexpr int kMaxWorld = kSanitized ? 9 : 17;

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::reduce_scatter,
                                     Operation::all_gather, Operation::broadcast};

struct Case {
  NamedPlan plan;
  Operation operation{};
  int world = 1;
  Chunking chunking;
  int root = 0;

  std::unique_ptr<const Schedule> schedule() const {
    return make_schedule(operation, plan.plan, world, chunking, root);
  }

  CollectiveShape shape() const { return {*plan.plan, operation, world, chunking, root}; }

  std::string text() const {
    return plan.name + " " + std::string(name(operation)) + ", world " + std::to_string(world) +
           ", count " + std::to_string(chunking.count) + ", chunk " +
           std::to_string(chunking.chunk) + ", root " + std::to_string(root);
  }
};

std::vector<std::size_t> counts_of(int world) {
  const auto n = static_cast<std::size_t>(world);
  std::vector<std::size_t> counts = {0, 1, n - 1, n + 1, 3 * n + 2, 12 * n};
  if (world <= 6) {
    for (std::size_t count = 0; count <= 20; ++count) {
      counts.push_back(count);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// Every plan, operation, world size, count, chunking and root that is small. Besides the even cut
// there is one with larger chunks, whose last ones are short or empty.
template <typename F>
void for_each_case(F&& f) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    for (const NamedPlan& plan : plans_of(world)) {
      for (const Operation operation : kOperations) {
        for (const std::size_t count : counts_of(world)) {
          for (const std::size_t more :
               world < 10 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0}) {
            Chunking chunking = Chunking::even(count, world);
            chunking.chunk += more;
            const bool has_roots = operation == Operation::broadcast;
            for (int root = 0; root < (has_roots ? world : 1); root += world < 5 ? 1 : 4) {
              f(Case{plan, operation, world, chunking, root});
            }
          }
        }
      }
    }
  }
}

// Of the seeds in turn; larger.
template <typename F>
void for_each_random_case(F&& f) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 50U : 300U); ++seed) {
    const auto draw = [&](std::uint64_t index, std::uint64_t below) {
      return splitmix64(seed, index) % below;
    };
    Case c;
    c.world = 1 + static_cast<int>(draw(0, 40));
    c.plan = random_plan(c.world, seed);
    c.operation = kOperations[draw(1, std::size(kOperations))];
    c.chunking = Chunking::even(draw(2, 500), c.world);
    c.root = static_cast<int>(draw(3, static_cast<std::uint64_t>(c.world)));
    SCOPED_TRACE("seed " + std::to_string(seed));
    f(c);
  }
}

// Element by element of every rank.
using Vectors = std::vector<std::vector<float>>;

// What the ranks begin with: numbers whose sum depends on the order of additions.
float begin_value(int rank, std::size_t element) {
  const auto seed = static_cast<std::uint64_t>(rank);
  const auto exponent = static_cast<std::uint32_t>(splitmix64(seed, 1000 + element) % 16);
  return uniform(seed, element) * static_cast<float>(1U << exponent);
}

Vectors begin_values(const Case& c) {
  Vectors vectors(static_cast<std::size_t>(c.world));
  for (int rank = 0; rank < c.world; ++rank) {
    for (std::size_t i = 0; i < c.chunking.count; ++i) {
      vectors[static_cast<std::size_t>(rank)].push_back(begin_value(rank, i));
    }
  }
  return vectors;
}

// A rank's messages to another one in a round.
using Messages = std::map<std::pair<int, int>, std::vector<std::vector<Range>>>;

std::vector<Range> to_vector(std::span<const Range> ranges) {
  return {ranges.begin(), ranges.end()};
}

// No element is sent and received at once, and no range is empty or outside.
void check_ranges(const Round& round, const Case& c) {
  std::vector<int> uses(c.chunking.count);
  const auto mark = [&](std::span<const Transfer> transfers, int mark) {
    for (const Transfer& transfer : transfers) {
      ASSERT_FALSE(round.ranges(transfer).empty()) << "an empty message";
      for (const Range& range : round.ranges(transfer)) {
        ASSERT_GT(range.count, 0U);
        ASSERT_LE(range.offset + range.count, c.chunking.count);
        for (std::size_t i = range.offset; i < range.offset + range.count; ++i) {
          uses[i] |= mark;
        }
      }
    }
  };
  mark(round.sends(), 1);
  mark(round.receives(), 2);
  ASSERT_EQ(std::count(uses.begin(), uses.end(), 3), 0) << "elements are sent and received at once";
}

// Plays the schedule of all ranks, round by round, and checks what rounds promise.
void play(const Case& c, const Schedule& schedule, Vectors& vectors) {
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(c.world));
  std::vector<std::int64_t> messages(static_cast<std::size_t>(c.world));
  for (int i = 0; i < schedule.rounds(); ++i) {
    const Vectors before = vectors;
    Messages sends;
    Messages receives;
    for (int rank = 0; rank < c.world; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      const Round round = schedule.round(rank, i);
      check_ranges(round, c);
      for (const Transfer& send : round.sends()) {
        ASSERT_NE(send.peer, rank);
        sends[{rank, send.peer}].push_back(to_vector(round.ranges(send)));
        sent[index] += round.elements(send);
      }
      messages[index] += static_cast<std::int64_t>(round.sends().size());
      for (const Transfer& receive : round.receives()) {
        receives[{receive.peer, rank}].push_back(to_vector(round.ranges(receive)));
        for (const Range& range : round.ranges(receive)) {
          for (std::size_t e = range.offset; e < range.offset + range.count; ++e) {
            const float value = before[static_cast<std::size_t>(receive.peer)][e];
            float& own = vectors[index][e];
            own = receive.arrival == Arrival::is_added ? own + value : value;
          }
        }
      }
    }
    ASSERT_EQ(sends, receives) << "round " << i;
  }
  for (int rank = 0; rank < c.world; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    ASSERT_EQ(sent[index], predicted_sent_elements(c.shape(), rank)) << "rank " << rank;
    ASSERT_EQ(sent[index], sent_elements(schedule, rank));
    ASSERT_LE(messages[index], schedule.messages());
  }
}

// What an element of a rank must be; nothing where the collective leaves anything.
std::optional<float> expected(const Case& c, int rank, std::size_t element) {
  const auto chunk = static_cast<int>(element / c.chunking.chunk);
  switch (c.operation) {
    case Operation::reduce_scatter:
      if (chunk != rank) {
        return std::nullopt;
      }
      [[fallthrough]];
    case Operation::all_reduce:
      return stated_sum(
          *c.plan.plan, c.operation, c.world, c.chunking, element,
          [&](int other) { return begin_value(other, element); },
          [](float a, float b) { return a + b; });
    case Operation::all_gather:
      return begin_value(chunk, element);
    case Operation::broadcast:
      return begin_value(c.root, element);
    case Operation::barrier:
      break;
  }
  return std::nullopt;
}

void check_result(const Case& c, const Vectors& vectors) {
  for (std::size_t element = 0; element < c.chunking.count; ++element) {
    std::optional<float> value;
    for (int rank = 0; rank < c.world; ++rank) {
      const bool same_for_all = rank > 0 && c.operation != Operation::reduce_scatter;
      value = same_for_all ? value : expected(c, rank, element);
      if (value.has_value()) {
        const float found = vectors[static_cast<std::size_t>(rank)][element];
        ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(*value))
            << "rank " << rank << ", element " << element << ": " << found << ", not " << *value;
      }
    }
  }
}

void check_case(const Case& c) {
  SCOPED_TRACE(c.text());
  const auto schedule = c.schedule();
  Vectors vectors = begin_values(c);
  play(c, *schedule, vectors);
  if (!::testing::Test::HasFatalFailure()) {
    check_result(c, vectors);
  }
}

// Every send meets a receive, every sum and copy is right and in the order stated, every element
// sent is in the closed form.
TEST(Schedule, OfEverySmallCaseDoesWhatItsHeaderSays) {
  for_each_case([](const Case& c) {
    if (!::testing::Test::HasFatalFailure()) {
      check_case(c);
    }
  });
}

TEST(Schedule, OfRandomCasesDoesWhatItsHeaderSays) {
  for_each_random_case([](const Case& c) {
    if (!::testing::Test::HasFatalFailure()) {
      check_case(c);
    }
  });
}

// The most that a round receives to be added; of what is not reduced, the most that a round sends,
// once though it goes to several, and the most that it receives.
Staging walked_staging(const Schedule& schedule, int rank) {
  Staging most;
  for (int i = 0; i < schedule.rounds(); ++i) {
    const Round round = schedule.round(rank, i);
    Staging needed;
    std::map<std::size_t, std::size_t> distinct;  // Ranges by where they begin.
    for (const Transfer& send : round.sends()) {
      for (const Range& range : round.ranges(send)) {
        distinct[range.offset] = range.count;
      }
    }
    for (const auto& [offset, count] : distinct) {
      needed.sent += count;
    }
    for (const Transfer& receive : round.receives()) {
      (receive.arrival == Arrival::is_added ? needed.added : needed.received) +=
          round.elements(receive);
    }
    most.added = std::max(most.added, needed.added);
    most.sent = std::max(most.sent, needed.sent);
    most.received = std::max(most.received, needed.received);
  }
  return reduces(schedule.operation()) ? Staging{.added = most.added, .sent = 0, .received = 0}
                                       : most;
}

void check_staging(const Case& c) {
  SCOPED_TRACE(c.text());
  const auto schedule = c.schedule();
  const Algorithm algorithm = schedule->algorithm();
  for (int rank = 0; rank < c.world; ++rank) {
    const Staging staging = schedule->staging(rank);
    ASSERT_EQ(staging, predicted_staging(c.shape(), rank)) << "rank " << rank;
    const Staging walked = walked_staging(*schedule, rank);
    if (algorithm == Algorithm::halving_doubling || algorithm == Algorithm::direct) {
      ASSERT_EQ(staging, walked) << "rank " << rank;
    }
    ASSERT_LE(walked.added, staging.added) << "rank " << rank;
    ASSERT_LE(walked.sent, staging.sent) << "rank " << rank;
    ASSERT_LE(walked.received, staging.received) << "rank " << rank;
  }
}

TEST(Schedule, StagingIsTheClosedFormAndEnough) {
  const auto check = [](const Case& c) {
    if (!::testing::Test::HasFatalFailure()) {
      check_staging(c);
    }
  };
  for_each_case(check);
  for_each_random_case(check);
}

// A shard that is reduced and gathered again is the sum that all_reduce gives, whatever the plan,
// but for the trees, which reduce_scatter does not use.
TEST(Schedule, AllReduceAddsAsReduceScatterDoes) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    for (const NamedPlan& plan : plans_of(world)) {
      if (plan.plan->algorithm == Algorithm::double_tree) {
        continue;
      }
      Case c{plan, Operation::all_reduce, world,
             Chunking::even(3 * static_cast<std::size_t>(world) + 1, world), 0};
      SCOPED_TRACE(c.text());
      Vectors whole = begin_values(c);
      play(c, *c.schedule(), whole);
      Vectors parts = begin_values(c);
      for (const Operation operation : {Operation::reduce_scatter, Operation::all_gather}) {
        c.operation = operation;
        play(c, *c.schedule(), parts);
      }
      ASSERT_EQ(whole, parts);
    }
  }
}

TEST(Schedule, HierarchicalOfOneNodeOrOneRankPerNodeIsTheRing) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    std::vector<int> nodes;
    for (int rank = 0; rank < world; ++rank) {
      nodes.push_back(rank);
    }
    for (const NodeGroups& groups :
         {NodeGroups(nodes), NodeGroups(std::vector<int>(static_cast<std::size_t>(world), 3))}) {
      CollectivePlan plan;
      plan.algorithm = Algorithm::hierarchical;
      plan.nodes = groups;
      const NamedPlan hierarchical = {"HIERARCHICAL", std::make_shared<const CollectivePlan>(plan)};
      for (const Operation operation : kOperations) {
        Case c{hierarchical, operation, world, Chunking::even(40, world), world / 2};
        SCOPED_TRACE(c.text());
        const auto ours = c.schedule();
        c.plan = {"RING", simple_plan(Algorithm::ring, world)};
        const auto ring = c.schedule();
        ASSERT_EQ(ours->rounds(), ring->rounds());
        for (int rank = 0; rank < world; ++rank) {
          EXPECT_EQ(ours->staging(rank), ring->staging(rank));
          for (int i = 0; i < ring->rounds(); ++i) {
            const Round a = ours->round(rank, i);
            const Round b = ring->round(rank, i);
            ASSERT_EQ(a.sends().size(), b.sends().size());
            for (std::size_t s = 0; s < a.sends().size(); ++s) {
              EXPECT_EQ(a.sends()[s].peer, b.sends()[s].peer);
              EXPECT_EQ(to_vector(a.ranges(a.sends()[s])), to_vector(b.ranges(b.sends()[s])));
            }
          }
        }
      }
    }
  }
}

TEST(Schedule, RoundsAreThoseOfTheHeaders) {
  for (int n = 2; n <= 40; ++n) {
    SCOPED_TRACE("world " + std::to_string(n));
    const auto rounds = [&](Algorithm algorithm, Operation operation) {
      return make_schedule(operation, simple_plan(algorithm, n), n, Chunking::even(100, n))
          ->rounds();
    };
    EXPECT_EQ(rounds(Algorithm::ring, Operation::all_reduce), 2 * (n - 1));
    EXPECT_EQ(rounds(Algorithm::ring, Operation::reduce_scatter), n - 1);
    EXPECT_EQ(rounds(Algorithm::ring, Operation::all_gather), n - 1);
    EXPECT_EQ(rounds(Algorithm::ring, Operation::broadcast), 2 * n - 2);
    const int q = std::bit_width(static_cast<unsigned>(n)) - 1;
    const int folding = std::has_single_bit(static_cast<unsigned>(n)) ? 0 : 2;
    EXPECT_EQ(rounds(Algorithm::halving_doubling, Operation::all_reduce), 2 * q + folding);
    EXPECT_EQ(rounds(Algorithm::halving_doubling, Operation::reduce_scatter), q + folding);
    EXPECT_EQ(rounds(Algorithm::direct, Operation::all_reduce), 2);
    EXPECT_EQ(rounds(Algorithm::direct, Operation::broadcast), 1);
    const int height = std::bit_width(static_cast<unsigned>(n - 1));
    EXPECT_EQ(rounds(Algorithm::double_tree, Operation::all_reduce), 2 + 2 * height - 1);
  }
}

// After the last round every rank has heard, directly or not, of every other one, under any plan.
TEST(Schedule, ABarrierReachesEveryRankFromEveryRank) {
  for (int n = 1; n <= 40; ++n) {
    SCOPED_TRACE("world " + std::to_string(n));
    const auto schedule = make_schedule(
        Operation::barrier,
        simple_plan(kAlgorithms[static_cast<std::size_t>(n) % kAlgorithms.size()], n), n, {});
    EXPECT_EQ(schedule->rounds(), std::bit_width(static_cast<unsigned>(n - 1)));
    std::vector<std::vector<bool>> heard(static_cast<std::size_t>(n),
                                         std::vector<bool>(static_cast<std::size_t>(n)));
    for (std::size_t rank = 0; rank < heard.size(); ++rank) {
      heard[rank][rank] = true;
    }
    for (int i = 0; i < schedule->rounds(); ++i) {
      const auto before = heard;
      for (std::size_t rank = 0; rank < heard.size(); ++rank) {
        const Round round = schedule->round(static_cast<int>(rank), i);
        ASSERT_EQ(round.receives().size(), 1U);
        EXPECT_TRUE(round.ranges(round.receives().front()).empty());
        const auto& from = before[static_cast<std::size_t>(round.receives().front().peer)];
        for (std::size_t other = 0; other < from.size(); ++other) {
          heard[rank][other] = heard[rank][other] || from[other];
        }
      }
    }
    for (const std::vector<bool>& of_rank : heard) {
      EXPECT_EQ(std::count(of_rank.begin(), of_rank.end(), false), 0);
    }
  }
}

TEST(Schedule, ChunksTileTheVector) {
  for (std::size_t count = 0; count <= 40; ++count) {
    for (int parts = 1; parts <= 45; ++parts) {
      const Chunking chunking = Chunking::even(count, parts);
      std::size_t covered = 0;
      for (int i = 0; i < parts; ++i) {
        ASSERT_EQ(chunking.offset(i), covered) << count << " in " << parts << ", chunk " << i;
        covered += chunking.size(i);
      }
      EXPECT_EQ(covered, count) << "in " << parts;
    }
  }
}

TEST(Plan, AlgorithmsAreFoundByTheirNames) {
  for (const Algorithm algorithm : kAlgorithms) {
    EXPECT_EQ(find_algorithm(name(algorithm)), algorithm);
  }
  EXPECT_EQ(find_algorithm("TREE"), std::nullopt);
}

TEST(PlanDeathTest, RingsArePermutationsAndNodesOfOneSize) {
  EXPECT_DEATH(RingOrders({{0, 1, 1}}), "not a permutation");
  EXPECT_DEATH(RingOrders({{0, 1, 2}, {0, 1}}), "rings of different groups");
  EXPECT_DEATH(NodeGroups({0, 0, 1}), "nodes of different size");
}

}  // namespace
}  // namespace shardscope::testing
