#include "sim/cluster/collective_time.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Barrier.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Semaphore.hpp>
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
  const std::unique_ptr<s4u::Engine> engine = make_engine(/*threads=*/1, scenario.world_size);
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  std::deque<BackgroundTraffic> background;
  start_background(scenario.cluster.background, *platform, background);
  const ClusterPlanner planner(scenario.cluster, *platform);
  Exchange exchange(*platform, planner);
  const int ranks = platform->world_size();
  const s4u::BarrierPtr barrier = s4u::Barrier::create(static_cast<unsigned>(ranks));
  // Not on the ranks' stacks, nor are collectives: the same place of all stacks is in few lines of
  // a cache.
  std::deque<RankTraffic> traffic;
  std::vector<CollectiveMeasurement> measured(sizes.size());
  for (int rank = 0; rank < ranks; ++rank) {
    traffic.emplace_back(*platform, rank);
    s4u::Actor::create("rank", platform->host(rank), [&, rank] {
      MemoryLedger memory(UINT64_MAX);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::unique_ptr<Collective> collective =
            make_collective(sizes[i], rank, ranks, planner, memory);
        barrier->wait();
        const double begin_s = s4u::Engine::get_clock();
        const s4u::SemaphorePtr over = s4u::Semaphore::create(0);
        exchange.begin(*collective, traffic[static_cast<std::size_t>(rank)], nullptr,
                       [&] { over->release(); });
        over->acquire();
        CollectiveMeasurement& result = measured[i];
        result.algorithm = collective->schedule().algorithm();
        result.seconds = std::max(result.seconds, s4u::Engine::get_clock() - begin_s);
        barrier->wait();
      }
    });
  }
  engine->run();
  return measured;
}

}  // namespace shardscope
