// Every algorithm on the simulated star against the closed forms of its time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/collectives/closed_forms.h"
#include "sim/critical_path/critical_path.h"
#include "sim/trace/messages.h"
#include "tests/core/support/plans.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated_collective.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

const CableSpec kLink = network_cable(1e9, 2e-6);
constexpr EqualLinks kLinks = {
    .bandwidth_bytes_per_s = 1e9, .path_latency_s = 4e-6, .fully_connected = false};

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::reduce_scatter,
                                     Operation::all_gather, Operation::broadcast,
                                     Operation::barrier};

const std::vector<int> kWorldSizes =
    kSanitized ? std::vector<int>{2, 3, 4} : std::vector<int>{2, 3, 4, 6, 8, 16};

// Ranks, channels and segments divide it.
std::size_t even_elements(int world_size) { return static_cast<std::size_t>(world_size) * 72; }

std::string text(const NamedPlan& plan, Operation operation, int world) {
  return plan.name + " " + std::string(name(operation)) + ", world " + std::to_string(world);
}

// The path through the recorded messages is as long as the collective took.
void check_path(const CollectiveRun& run) {
  const auto path = critical_path(run.recorded);
  ASSERT_TRUE(path.has_value());
  EXPECT_NEAR(path->length_s, run.last_s(), 1e-9 * run.last_s());
}

// What the closed form says, by how far it may be off where it is an estimate.
void check_time(const NamedPlan& plan, Operation operation, int world, double& worst) {
  SCOPED_TRACE(text(plan, operation, world));
  const std::size_t elements = operation == Operation::barrier ? 0 : even_elements(world);
  const CollectiveRun run = run_collective(plan.plan, operation, star(world, kLink), elements);
  EXPECT_TRUE(run.is_right);
  check_path(run);
  const CollectiveTime time =
      collective_time(*plan.plan, operation, world, elements * sizeof(float), kLinks);
  const double error = (run.last_s() - time.seconds) / time.seconds;
  if (time.is_exact) {
    EXPECT_LE(std::abs(error), 1e-9);
    worst = std::max(worst, std::abs(error));
  } else {
    EXPECT_LE(error, 0.01);
    EXPECT_GE(error, -0.35);
  }
}

TEST(CollectiveTimes, AreTheClosedForms) {
  double worst = 0;
  for (const int world : kWorldSizes) {
    for (const NamedPlan& plan : plans_of(world)) {
      for (const Operation operation : kOperations) {
        if (plan.plan->algorithm != Algorithm::ring &&
            (operation == Operation::barrier ||
             algorithm_of(*plan.plan, operation) == Algorithm::ring)) {
          continue;  // That of the ring.
        }
        check_time(plan, operation, world, worst);
      }
    }
  }
  std::printf("furthest from the closed form: %.1e relative\n", worst);
}

Cluster on_fabric(FabricSpec fabric, int world) {
  fabric.cable = kLink;
  Cluster cluster = star(world, kLink);
  cluster.spec.fabric = fabric;
  return cluster;
}

FabricSpec of_kind(FabricKind kind) {
  FabricSpec fabric;
  fabric.kind = kind;
  return fabric;
}

// Every builder that has room for so many, by name.
std::map<std::string, Cluster> clusters_of(int world) {
  FabricSpec leaf_spine = of_kind(FabricKind::leaf_spine);
  leaf_spine.endpoints_per_leaf = 2;
  leaf_spine.spines = 2;
  leaf_spine.oversubscription = 4;
  FabricSpec torus = of_kind(FabricKind::torus);
  torus.lengths = {static_cast<std::size_t>(world % 2 == 0 ? world / 2 : world),
                   static_cast<std::size_t>(world % 2 == 0 ? 2 : 1), 1};
  std::map<std::string, Cluster> clusters = {
      {"ring", on_fabric(of_kind(FabricKind::ring), world)},
      {"fully connected", on_fabric(of_kind(FabricKind::fully_connected), world)},
      {"leaf-spine", on_fabric(leaf_spine, world)},
      {"fat tree", on_fabric(of_kind(FabricKind::fat_tree), world)},
      {"torus", on_fabric(torus, world)}};
  if (world % 2 == 0) {
    Cluster rails = on_fabric(of_kind(FabricKind::rails), world);
    rails.spec.nodes = static_cast<std::size_t>(world / 2);
    rails.spec.node = nvswitch_node(2, 1e-6);
    rails.devices_per_node = 2;
    clusters.emplace("rails", rails);
  }
  return clusters;
}

TEST(CollectiveTimes, EveryAlgorithmSumsOnEveryCluster) {
  for (const int world : kWorldSizes) {
    for (const auto& [fabric, cluster] : clusters_of(world)) {
      for (const Algorithm algorithm : kAlgorithms) {
        SCOPED_TRACE(fabric + ", " + std::string(name(algorithm)) + ", world " +
                     std::to_string(world));
        const CollectiveRun run =
            run_collective(simple_plan(algorithm, world), Operation::all_reduce, cluster,
                           even_elements(world) + 3);
        EXPECT_TRUE(run.is_right);
      }
    }
  }
}

// Where each has a link to each, DIRECT's messages share none; on a ring of devices RING's do not.
TEST(CollectiveTimes, AreTheClosedFormsOnLinksThatSuitThem) {
  EqualLinks links = kLinks;
  for (const int world : kWorldSizes) {
    const std::size_t elements = even_elements(world);
    const auto expect = [&](FabricKind kind, Algorithm algorithm) {
      const auto plan = simple_plan(algorithm, world);
      const CollectiveTime time =
          collective_time(*plan, Operation::all_reduce, world, elements * sizeof(float), links);
      EXPECT_TRUE(time.is_exact);
      const CollectiveRun run =
          run_collective(plan, Operation::all_reduce, on_fabric(of_kind(kind), world), elements);
      EXPECT_NEAR(run.last_s(), time.seconds, 1e-9 * time.seconds) << world;
    };
    links.path_latency_s = 2e-6;
    links.fully_connected = true;
    expect(FabricKind::fully_connected, Algorithm::direct);
    links.fully_connected = false;
    expect(FabricKind::fully_connected, Algorithm::ring);
    expect(FabricKind::ring, Algorithm::ring);
  }
}

// Vectors that nothing divides: the sums are right and the recorded messages explain the time.
TEST(CollectiveTimes, OfRandomCollectivesFollowTheirMessages) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 10U : 60U); ++seed) {
    const int world = 2 + static_cast<int>(seed % 11);
    const NamedPlan plan = random_plan(world, seed);
    const Operation operation = kOperations[seed % 4];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + text(plan, operation, world));
    const CollectiveRun run =
        run_collective(plan.plan, operation, star(world, kLink), 1 + seed * 37 % 400);
    EXPECT_TRUE(run.is_right);
    check_path(run);
  }
}

TEST(CollectiveTimes, BestSegmentsAreTheShortest) {
  for (const int world : {2, 3, 8, 100}) {
    for (const std::uint64_t bytes : {1'000U, 1'000'000U, 100'000'000U}) {
      for (const Operation operation : {Operation::all_reduce, Operation::broadcast}) {
        const auto seconds = [&](int segments) {
          CollectivePlan plan;
          plan.algorithm = Algorithm::double_tree;
          plan.segments = segments;
          return collective_time(plan, operation, world, bytes, kLinks).seconds;
        };
        const int best = best_segments(operation, world, bytes, kLinks);
        for (int segments = 1; segments <= 64; ++segments) {
          EXPECT_LE(seconds(best), seconds(segments)) << world << " ranks, " << bytes << " B";
        }
      }
    }
  }
}

// Messages beside each other have places of their own, as tracks of a trace.
TEST(CollectiveTimes, MessagesInOnePlaceFollowOneAnother) {
  const CollectiveRun run = run_collective(simple_plan(Algorithm::direct, 5), Operation::all_reduce,
                                           star(5, kLink), even_elements(5));
  std::vector<const RankRecording*> ranks;
  for (const RankRecording& recording : run.recorded.recordings()) {
    ranks.push_back(&recording);
  }
  using Place = std::tuple<std::string, std::size_t, int>;  // Rank and which beside others.
  std::map<Place, std::vector<std::pair<double, double>>> places;
  for (const Message& message : match_messages(ranks)) {
    places[{"send", message.from, message.sent_beside}].emplace_back(message.send->begin_s(),
                                                                     message.receive->left_s());
    places[{"receive", message.to, message.received_beside}].emplace_back(
        message.receive->begin_s(), message.receive->end_s());
  }
  EXPECT_EQ(places.size(), 2U * 5 * 4);  // Four messages each way at a time on each rank.
  for (auto& [place, intervals] : places) {
    std::sort(intervals.begin(), intervals.end());
    ASSERT_EQ(intervals.size(), 2U);
    EXPECT_LE(intervals[0].second, intervals[1].first);
  }
}

}  // namespace
}  // namespace shardscope::testing
