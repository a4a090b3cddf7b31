#include "sim/cluster/simulation.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/training/loss_scaler.h"
#include "sim/cluster/background.h"
#include "sim/cluster/collect.h"
#include "sim/cluster/engine.h"
#include "sim/cluster/exchange.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/rank.h"
#include "sim/cluster/save_point.h"
#include "sim/collectives/cluster_planner.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

// Ranks that ran out of memory, and when. The first one counts, of several at one instant the
// lowest.
struct MemoryFaults {
  struct Fault {
    double time_s;
    int rank;
    OutOfMemory reason;
  };

  std::mutex mutex;  // Ranks may run on several threads; never held across a simcall.
  std::optional<Fault> first;

  void add(const Fault& fault) {
    const std::lock_guard lock(mutex);
    if (!first.has_value() ||
        std::pair(fault.time_s, fault.rank) < std::pair(first->time_s, first->rank)) {
      first = fault;
    }
  }
};

// Why the run ended itself.
struct Failure {
  std::optional<std::string> reason;
  bool is_of_checkpoint = false;
};

// What all ranks own, to be saved.
std::optional<std::string> write_checkpoint(const std::vector<std::unique_ptr<Rank>>& ranks,
                                            const SimulationOptions& options) {
  std::vector<std::vector<OwnedState>> owned;
  for (const auto& rank : ranks) {
    owned.push_back(rank->trainer().owned_state());
  }
  return options.on_checkpoint(ranks.front()->trainer().progress(), owned);
}

void run_rank(Rank& rank, const SimulationOptions& options, Exchange& exchange,
              MemoryFaults& faults, SavePoint* save_point, Failure& failure) {
  std::optional<OutOfMemory> reason;
  try {
    rank.run(options.resumed, save_point, rank.rank() == 0 ? options.on_step : nullptr);
  } catch (const OutOfMemory& error) {
    reason = error;
  } catch (const LossScaleExhausted& error) {  // On all ranks, in the same step.
    if (rank.rank() == 0) {
      const std::int64_t step = rank.device().position().step;
      failure.reason = "step " + std::to_string(step) + ": " + error.what();
    }
  } catch (const CheckpointFailed& error) {  // The same.
    if (rank.rank() == 0) {
      failure = {.reason = error.what(), .is_of_checkpoint = true};
    }
  }
  if (reason.has_value()) {
    rank.device().synchronize();  // The kernels before it take their time.
    faults.add({s4u::Engine::get_clock(), rank.rank(), *reason});
    s4u::this_actor::yield();  // Let the others of this instant fail as well.
    exchange.stop();           // Its collectives end with their ranks.
    s4u::Actor::kill_all();
  }
}

// Threads share out the ranks' arithmetic.
int threads_for(const Scenario& scenario, const SimulationOptions& options) {
  return scenario.training.storage == Storage::shape_only ? 1 : options.threads;
}

}  // namespace

RunResult simulate(const Scenario& scenario, const Strategy& strategy, const WeightSource& weights,
                   const BatchSource* batches, const SimulationOptions& options) {
  const std::unique_ptr<s4u::Engine> engine =
      make_engine(threads_for(scenario, options), scenario.world_size);
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  const ClusterPlanner planner(scenario.cluster, *platform);
  Exchange exchange(*platform, planner);
  std::deque<BackgroundTraffic> background;
  start_background(scenario.cluster.background, *platform, background);
  MemoryFaults faults;
  Failure failure;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::optional<SavePoint> save_point;
  if (scenario.checkpoint.has_value()) {
    save_point.emplace(*scenario.checkpoint, scenario.world_size, [&] {
      const bool is_real = scenario.training.storage == Storage::real;
      return is_real && options.on_checkpoint ? write_checkpoint(ranks, options) : std::nullopt;
    });
  }
  SavePoint* const save = save_point.has_value() ? &*save_point : nullptr;
  for (int r = 0; r < scenario.world_size; ++r) {
    ranks.push_back(std::make_unique<Rank>(scenario, strategy, weights, batches, *platform, planner,
                                           exchange, options.recorded, r));
    s4u::Actor::create("rank" + std::to_string(r), platform->host(r),
                       [&rank = *ranks.back(), &options, &exchange, &faults, save, &failure] {
                         run_rank(rank, options, exchange, faults, save, failure);
                       });
  }
  engine->run();

  if (faults.first.has_value()) {
    return out_of_memory_result(scenario, strategy, ranks, faults.first->rank,
                                faults.first->reason);
  }
  if (failure.reason.has_value()) {
    RunResult result = failed_result(scenario, strategy, ranks, *failure.reason);
    result.set_checkpoint_failed(failure.is_of_checkpoint);
    return result;
  }
  return completed_result(scenario, strategy, {*platform, planner, background}, ranks,
                          options.on_weights);
}

}  // namespace shardscope
