#include "sim/cluster/collective_time.h"

#include <deque>
#include <memory>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Semaphore.hpp>
#include <simgrid/simix.hpp>
#include <utility>

#include "core/collectives/collective.h"
#include "core/tensor/ledger.h"
#include "sim/cluster/background.h"
#include "sim/cluster/engine.h"
#include "sim/cluster/exchange.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/traffic.h"
#include "sim/collectives/cluster_planner.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

std::unique_ptr<Collective> make_collective(const CollectiveSize& size, int rank, int world_size,
                                            const CollectivePlanner& planner,
                                            MemoryLedger& memory) {
  const RankGroup all{.first = 0, .stride = 1, .size = world_size};
  const Tensor vector{nullptr, DType::fp32, size.elements};
  ChunkedTensor data = ChunkedTensor::even(vector, world_size);
  auto schedule = make_schedule(size.operation, planner.plan(size.operation, all, vector.bytes()),
                                world_size, data.chunking());
  return std::make_unique<Collective>(std::move(schedule), std::move(data), all, rank,
                                      Purpose::data, std::nullopt, memory, Storage::shape_only);
}

}  // namespace

std::vector<CollectiveMeasurement> time_collectives(const Scenario& scenario,
                                                    const std::vector<CollectiveSize>& sizes) {
  const std::unique_ptr<s4u::Engine> engine = make_engine(/*threads=*/1, /*ranks=*/1);
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  std::deque<BackgroundTraffic> background;
  start_background(scenario.cluster.background, *platform, background);
  const ClusterPlanner planner(scenario.cluster, *platform);
  Exchange exchange(*platform, planner);
  const int ranks = platform->world_size();
  std::deque<RankTraffic> traffic;
  for (int rank = 0; rank < ranks; ++rank) {
    traffic.emplace_back(*platform, rank);
  }
  MemoryLedger memory(UINT64_MAX);
  std::vector<CollectiveMeasurement> measured(sizes.size());
  // One actor waits for all ranks.
  s4u::Actor::create("ranks", platform->host(0), [&] {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::unique_ptr<Collective>> collectives;
      for (int rank = 0; rank < ranks; ++rank) {
        collectives.push_back(make_collective(sizes[i], rank, ranks, planner, memory));
      }
      const double begin_s = s4u::Engine::get_clock();
      const s4u::SemaphorePtr over = s4u::Semaphore::create(0);
      int under_way = ranks;
      simgrid::kernel::actor::simcall_answered([&] {
        for (int rank = 0; rank < ranks; ++rank) {
          const auto index = static_cast<std::size_t>(rank);
          exchange.begin(*collectives[index], traffic[index], nullptr, [&] {
            if (--under_way == 0) {
              over->release();
            }
          });
        }
      });
      over->acquire();
      measured[i] = {.algorithm = collectives.front()->schedule().algorithm(),
                     .as_flows = exchange.as_flows(*collectives.front()),
                     .seconds = s4u::Engine::get_clock() - begin_s};
    }
  });
  engine->run();
  return measured;
}

}  // namespace shardscope
