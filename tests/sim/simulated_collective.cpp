#include "tests/sim/simulated_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Semaphore.hpp>
#include <string>

#include "core/collectives/collective.h"
#include "sim/cluster/engine.h"
#include "sim/cluster/exchange.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/traffic.h"
#include "sim/collectives/cluster_planner.h"
#include "sim/process/child.h"

namespace shardscope::testing {
namespace {

namespace s4u = simgrid::s4u;

constexpr int kRoot = 1;

float begin_value(int rank, std::size_t element) {
  return static_cast<float>((static_cast<std::size_t>(rank) * 7 + element * 5) % 23);
}

// What the element must be on a rank afterwards; the value itself where anything may be left.
float end_value(Operation operation, int rank, int world_size, const Chunking& chunking,
                std::size_t element, float value) {
  const auto chunk = static_cast<int>(element / chunking.chunk);
  switch (operation) {
    case Operation::all_gather:
      return begin_value(chunk, element);
    case Operation::broadcast:
      return begin_value(kRoot, element);
    case Operation::reduce_scatter:
      if (chunk != rank) {
        return value;
      }
      break;
    case Operation::all_reduce:
      break;
    case Operation::barrier:
      return value;
  }
  float sum = 0;
  for (int other = 0; other < world_size; ++other) {
    sum += begin_value(other, element);
  }
  return sum;
}

struct Setting {
  const std::shared_ptr<const CollectivePlan>& plan;
  Operation operation;
  int world_size;
  std::size_t elements;
};

void record_alone(RankRecording& recording, int rank) {
  recording.set_rank(rank);
  recording.set_step(1);
  for (const auto kind : {ComputeOperation::ENQUEUE, ComputeOperation::WAIT}) {
    ComputeOperation& operation = *recording.add_compute();
    operation.set_kind(kind);
    operation.set_phase("backward");
  }
}

bool run_rank(const Setting& setting, const Platform& platform, Exchange& exchange, int rank,
              RankRecording& recording) {
  std::vector<float> values(setting.elements);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = begin_value(rank, i);
  }
  const ChunkedTensor data =
      setting.operation == Operation::barrier
          ? ChunkedTensor::none()
          : ChunkedTensor::even(Tensor::of(values.data(), values.size()), setting.world_size);
  MemoryLedger ledger;
  Collective collective(
      make_schedule(setting.operation, setting.plan, setting.world_size, data.chunking(), kRoot),
      data, {.first = 0, .stride = 1, .size = setting.world_size}, rank, Purpose::data,
      std::nullopt, ledger, Storage::real);
  RankTraffic traffic(platform, rank);
  RecordedCollective& recorded = *recording.add_communication();
  recorded.set_name(collective.name());
  recorded.set_phase("backward");
  const s4u::SemaphorePtr over = s4u::Semaphore::create(0);
  exchange.begin(collective, traffic, &recorded, [&] { over->release(); });
  over->acquire();
  recorded.set_end_s(s4u::Engine::get_clock());
  recording.set_end_s(s4u::Engine::get_clock());
  bool is_right = true;
  for (std::size_t i = 0; i < values.size() && setting.operation != Operation::barrier; ++i) {
    is_right = is_right && values[i] == end_value(setting.operation, rank, setting.world_size,
                                                  data.chunking(), i, values[i]);
  }
  return is_right;
}

// In the calling process. A rank that ends with wrong values leaves out its recording.
RunResult simulate(const Setting& setting, const Cluster& cluster) {
  const std::unique_ptr<s4u::Engine> engine = make_engine(/*threads=*/1, setting.world_size);
  Scenario scenario;
  scenario.cluster = cluster;
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  const ClusterPlanner planner(scenario.cluster, *platform);
  Exchange exchange(*platform, planner);
  RunResult result;
  result.set_world_size(setting.world_size);
  std::vector<bool> is_right(static_cast<std::size_t>(setting.world_size));
  for (int rank = 0; rank < setting.world_size; ++rank) {
    record_alone(*result.add_recordings(), rank);
  }
  for (int rank = 0; rank < setting.world_size; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    s4u::Actor::create("rank", platform->host(rank), [&, rank, index] {
      is_right[index] =
          run_rank(setting, *platform, exchange, rank, *result.mutable_recordings(rank));
    });
  }
  engine->run();
  result.set_outcome(std::count(is_right.begin(), is_right.end(), false) == 0 ? "completed"
                                                                              : "wrong");
  return result;
}

}  // namespace

double CollectiveRun::last_s() const { return *std::max_element(end_s.begin(), end_s.end()); }

CollectiveRun run_collective(const std::shared_ptr<const CollectivePlan>& plan, Operation operation,
                             const Cluster& cluster, std::size_t elements) {
  const int world_size = static_cast<int>(cluster.placement.size());
  const Setting setting = {plan, operation, world_size, elements};
  const ChildResult child =
      run_in_child([&] { return simulate(setting, cluster).SerializeAsString(); });
  EXPECT_TRUE(child.ok) << child.failure;
  CollectiveRun run;
  EXPECT_TRUE(run.recorded.ParseFromString(child.output));
  run.is_right = run.recorded.outcome() == "completed";
  for (const RankRecording& recording : run.recorded.recordings()) {
    run.end_s.push_back(recording.end_s());
  }
  return run;
}

}  // namespace shardscope::testing
