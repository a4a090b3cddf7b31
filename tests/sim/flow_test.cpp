// Collectives as flows against the same by messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "sim/cluster/collective_time.h"
#include "sim/collectives/flow_accuracy.h"
#include "sim/process/child.h"
#include "sim/topology/cluster_spec.h"
#include "tests/core/support/small_strategies.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

const CableSpec kLink = network_cable(1e9, 2e-6);
const std::vector<int> kWorldSizes =
    kSanitized ? std::vector<int>{2, 4} : std::vector<int>{2, 3, 4, 6, 8, 16};
constexpr Operation kOperations[] = {Operation::all_reduce, Operation::reduce_scatter,
                                     Operation::all_gather, Operation::broadcast};

// Seconds of a collective on fp32 elements, alone on the cluster.
double seconds(Cluster cluster, Algorithm algorithm, Fidelity fidelity, Operation operation,
               std::uint64_t elements) {
  Scenario scenario;
  scenario.cluster = std::move(cluster);
  scenario.cluster.collective.algorithm = algorithm;
  scenario.cluster.collective.fidelity = fidelity;
  scenario.world_size = static_cast<int>(scenario.cluster.placement.size());
  const ChildResult child = run_in_child([&] {
    const double time = time_collectives(scenario, {{operation, elements}}).front().seconds;
    return std::string(reinterpret_cast<const char*>(&time), sizeof time);
  });
  EXPECT_TRUE(child.ok) << child.failure;
  double time = 0;
  std::memcpy(&time, child.output.data(), std::min(sizeof time, child.output.size()));
  return time;
}

Cluster on_fabric(FabricSpec fabric, int world) {
  Cluster cluster = star(world, kLink);
  fabric.cable = kLink;
  cluster.spec.fabric = fabric;
  return cluster;
}

// On one switch, whatever the algorithm, also where ranks do not divide the vector or outnumber it.
TEST(Flow, TakesTheTimeOfMessagesOnEqualLinks) {
  for (const int world : kWorldSizes) {
    for (const Algorithm algorithm : kAlgorithms) {
      if (algorithm == Algorithm::hierarchical) {
        continue;  // One node: the ring.
      }
      for (const Operation operation : kOperations) {
        const auto n = static_cast<std::uint64_t>(world);
        for (const std::uint64_t elements : {72 * n, 72 * n + 5, std::uint64_t{1}}) {
          const Cluster cluster = star(world, kLink);
          const double messages =
              seconds(cluster, algorithm, Fidelity::message, operation, elements);
          const double flows = seconds(cluster, algorithm, Fidelity::flow, operation, elements);
          const std::string what = std::string(name(algorithm)) + " " +
                                   std::string(name(operation)) + " of " +
                                   std::to_string(elements) + " on " + std::to_string(world);
          EXPECT_NEAR(flows, messages, 1e-9 * messages) << what;
        }
      }
    }
  }
}

TEST(Flow, HierarchicalTakesTheTimeOfMessagesWhereNodesAreAlike) {
  Cluster cluster = star(16, kLink);
  cluster.spec.nodes = 4;
  cluster.spec.node = nvswitch_node(4, 1e-7);
  cluster.devices_per_node = 4;
  for (const Operation operation :
       {Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather}) {
    const double messages =
        seconds(cluster, Algorithm::hierarchical, Fidelity::message, operation, 16 * 72);
    const double flows =
        seconds(cluster, Algorithm::hierarchical, Fidelity::flow, operation, 16 * 72);
    EXPECT_NEAR(flows, messages, 1e-9 * messages) << name(operation);
  }
}

// Whatever the fabric: a flow's time and, by the messages' own, the bounds that AUTO goes by.
TEST(Flow, TimesLieBetweenTheBounds) {
  FabricSpec leaves;
  leaves.kind = FabricKind::leaf_spine;
  leaves.endpoints_per_leaf = 2;
  leaves.spines = 1;
  leaves.oversubscription = 2;
  FabricSpec ring;
  ring.kind = FabricKind::ring;
  FabricSpec torus;
  torus.kind = FabricKind::torus;
  torus.lengths = {2, 4, 1};
  for (const FabricSpec& fabric : {leaves, ring, torus}) {
    const Cluster cluster = on_fabric(fabric, 8);
    const GraphPaths paths(topology_of(cluster), cluster.placement);
    for (const Algorithm algorithm : {Algorithm::ring}) {
      const auto plan = std::make_shared<const CollectivePlan>(
          CollectivePlan{.algorithm = algorithm, .rings = {}, .nodes = {}, .segments = 1});
      const auto schedule =
          make_schedule(Operation::all_reduce, plan, 8, Chunking::even(8 * 72, 8));
      const MessageTime bounds = message_time(*schedule, 4, {{0, 1, 8}}, paths);
      const auto of = [&](Fidelity fidelity) {
        return seconds(cluster, algorithm, fidelity, Operation::all_reduce, 8 * 72);
      };
      SCOPED_TRACE(std::string(name(fabric.kind)) + " " + std::string(name(algorithm)));
      for (const double time : {of(Fidelity::message), of(Fidelity::flow)}) {
        EXPECT_GE(time, bounds.least_s * (1 - 1e-9));
        EXPECT_LE(time, bounds.most_s * (1 + 1e-9));
      }
      const double automatic = of(Fidelity::automatic);
      const bool is_close = bounds.most_s <= bounds.least_s * (1 + kFlowTolerance);
      EXPECT_NEAR(automatic, of(is_close ? Fidelity::flow : Fidelity::message), 1e-15);
    }
  }
}

// Whether all ranks computed as long in a step.
bool are_alike(const RunResult& run, int step) {
  const auto computed_s = [&](const RankResult& rank) {
    const TimeSplit& time = rank.steps(step).time();
    return time.forward_s() + time.backward_s() + time.optimizer_s();
  };
  return std::all_of(run.ranks().begin(), run.ranks().end(), [&](const RankResult& rank) {
    return std::abs(computed_s(rank) - computed_s(run.ranks(0))) <= 1e-12;
  });
}

// The whole training: to the bit, the byte and, on one switch, the nanosecond.
TEST(Flow, TrainsAsMessagesDo) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 2 : 8); ++seed) {
    RandomScenario random(seed);
    for (const Strategy& strategy : random_strategies(seed)) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + random.text);
      random.scenario.cluster.collective.fidelity = Fidelity::message;
      const RunResult messages = run_simulation(random.scenario, strategy);
      random.scenario.cluster.collective.fidelity = Fidelity::flow;
      const RunResult flows = run_simulation(random.scenario, strategy);
      EXPECT_EQ(run_simulation(random.scenario, strategy, /*threads=*/2).SerializeAsString(),
                flows.SerializeAsString());
      ASSERT_EQ(flows.outcome(), messages.outcome());
      EXPECT_EQ(flows.weights_digest(), messages.weights_digest());
      ASSERT_EQ(flows.steps_size(), messages.steps_size());
      for (int i = 0; i < flows.steps_size(); ++i) {
        EXPECT_EQ(flows.steps(i).loss(), messages.steps(i).loss());
        // Flows begin when the last rank is there, and one broadcast after another: by messages the
        // first ranks begin the next while the last ones wait for the one before.
        const bool broadcasts = strategy.partition == Partition::tensor_owner;
        const double most = broadcasts ? 2 : are_alike(messages, i) ? 1 + 1e-9 : 1.02;
        const double wall_s = messages.steps(i).time().wall_s();
        EXPECT_GE(flows.steps(i).time().wall_s(), wall_s * (1 - 1e-9));
        EXPECT_LE(flows.steps(i).time().wall_s(), wall_s * most);
      }
      ASSERT_EQ(flows.ranks_size(), messages.ranks_size());
      for (int r = 0; r < flows.ranks_size(); ++r) {
        EXPECT_EQ(flows.ranks(r).peak().total(), messages.ranks(r).peak().total());
        ASSERT_EQ(flows.ranks(r).steps_size(), messages.ranks(r).steps_size());
        for (int i = 0; i < flows.ranks(r).steps_size(); ++i) {
          EXPECT_EQ(flows.ranks(r).steps(i).sent_bytes(), messages.ranks(r).steps(i).sent_bytes());
          EXPECT_EQ(flows.ranks(r).steps(i).received_bytes(),
                    messages.ranks(r).steps(i).received_bytes());
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
