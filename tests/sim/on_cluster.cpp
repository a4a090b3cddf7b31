#include "tests/sim/on_cluster.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <string>

#include "sim/cluster/background.h"
#include "sim/cluster/engine.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/simgrid_transport.h"

namespace shardscope::testing {
namespace {

namespace s4u = simgrid::s4u;

std::vector<double> simulate(const Cluster& cluster, const RankBody& body) {
  const std::unique_ptr<s4u::Engine> engine =
      make_engine(1, static_cast<int>(cluster.placement.size()));
  Scenario scenario;
  scenario.cluster = cluster;
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  std::deque<BackgroundTraffic> background;
  start_background(scenario.cluster.background, *platform, background);
  std::vector<double> results(cluster.placement.size());
  for (int rank = 0; rank < platform->world_size(); ++rank) {
    s4u::Actor::create("rank", platform->host(rank), [&, rank] {
      SimGridTransport transport(*platform, rank);
      results[static_cast<std::size_t>(rank)] = body(rank, transport);
    });
  }
  engine->run();
  return results;
}

}  // namespace

ChildResult try_on_cluster(const Cluster& cluster, const RankBody& body) {
  return run_in_child([&] {
    const std::vector<double> results = simulate(cluster, body);
    std::string text(results.size() * sizeof(double), '\0');
    std::memcpy(text.data(), results.data(), text.size());
    return text;
  });
}

std::vector<double> on_cluster(const Cluster& cluster, const RankBody& body) {
  const ChildResult child = try_on_cluster(cluster, body);
  EXPECT_TRUE(child.ok) << child.failure;
  std::vector<double> results(cluster.placement.size());
  EXPECT_EQ(child.output.size(), results.size() * sizeof(double));
  if (child.output.size() == results.size() * sizeof(double)) {
    std::memcpy(results.data(), child.output.data(), child.output.size());
  }
  return results;
}

}  // namespace shardscope::testing
