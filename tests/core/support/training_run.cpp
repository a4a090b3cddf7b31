#include "tests/core/support/training_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <numeric>

#include "core/device/process_group.h"
#include "core/training/trainer.h"

namespace shardscope::testing {
namespace {

// What one rank adds to a run. Ranks write different elements, or take the lock.
class Collector {
 public:
  Collector(const ModelSpec& model, const TrainingOptions& options, int world_size)
      : has_master_weights_(options.has_master_weights()), world_size_(world_size) {
    const std::vector<double> of_ranks(static_cast<std::size_t>(world_size));
    losses_.resize(options.steps, of_ranks);
    squares_.resize(options.steps, of_ranks);
    run_.ranks.resize(static_cast<std::size_t>(world_size));
    if (options.storage == Storage::real) {
      run_.weights.assign(model.parameters(), std::nanf(""));
    }
  }

  RankRecord& rank(int rank) { return run_.ranks[static_cast<std::size_t>(rank)]; }

  void add_step(std::size_t step, int rank, const StepDiagnostics& diagnostics) {
    const std::lock_guard lock(mutex_);
    losses_[step][static_cast<std::size_t>(rank)] = diagnostics.local_loss / world_size_;
    squares_[step][static_cast<std::size_t>(rank)] = diagnostics.update.sum_of_squares;
    if (rank == 0) {
      run_.updates.push_back(diagnostics.update);
      run_.loss_scales.push_back(diagnostics.loss_scale);
    }
  }

  // Elements that several ranks hold must be the same on all of them.
  void add_weights(int rank, const Trainer& trainer) {
    const std::lock_guard lock(mutex_);
    const auto add = [&](std::size_t begin, Tensor values) {
      for (std::size_t j = 0; j < values.count; ++j) {
        float& weight = run_.weights[begin + j];
        const float value = values.fp32()[j];
        EXPECT_TRUE(std::isnan(weight) ||
                    std::bit_cast<std::uint32_t>(weight) == std::bit_cast<std::uint32_t>(value))
            << "rank " << rank << " ends with another value of parameter " << begin + j;
        weight = value;
      }
    };
    const ShardGeometry& geometry = trainer.geometry();
    const Tensor held =
        trainer.held(has_master_weights_ ? Category::master_weights : Category::parameters);
    const bool whole = held.count == geometry.full_elements();
    for (std::size_t u = 0; u < geometry.units().size(); ++u) {
      const ShardUnit& unit = geometry.units()[u];
      const OwnedPart own = geometry.owned(u, trainer.shard_rank());
      if (whole) {
        add(unit.offset, held.slice(unit.full_offset, unit.count));
      } else {
        add(unit.offset + own.begin, held.slice(own.offset, own.parameters));
      }
    }
    for (const OwnedState& part : trainer.owned_state()) {
      add(part.begin, part.weights);
    }
  }

  TrainingRun take() {
    for (std::size_t step = 0; step < losses_.size(); ++step) {
      run_.losses.push_back(sum(losses_[step]));
      run_.gradient_norms.push_back(std::sqrt(sum(squares_[step])));
    }
    return std::move(run_);
  }

 private:
  // In the order of ranks, not of their arrival.
  static double sum(const std::vector<double>& of_ranks) {
    return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
  }

  bool has_master_weights_;
  int world_size_;
  std::mutex mutex_;
  std::vector<std::vector<double>> losses_;   // Of each step, by rank: its part.
  std::vector<std::vector<double>> squares_;  // The same, of the squared norm.
  TrainingRun run_;
};

}  // namespace

TrainingRun train(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
                  int world_size, const WeightSource& weights, const BatchSource& batches,
                  RunCollectives when, const CollectivePlanner& planner) {
  Collector collector(model, options, world_size);
  const auto body = [&](LocalRank local) {
    const int rank = local.transport.rank();
    RankRecord& record = collector.rank(rank);
    RecordingDevice device(local, when);
    {
      ProcessGroup group(device, rank, world_size, options.storage, planner);
      Trainer trainer(strategy, model, options, group, &batches);
      trainer.initialize(weights);
      record.state_after_initialization = device.memory().current();
      std::uint64_t sent = 0;
      std::uint64_t received = 0;
      for (std::size_t step = 0; step < options.steps; ++step) {
        collector.add_step(step, rank, trainer.step());
        record.sent_bytes.push_back(device.transport().sent_bytes() - sent);
        record.received_bytes.push_back(device.transport().received_bytes() - received);
        sent = device.transport().sent_bytes();
        received = device.transport().received_bytes();
      }
      record.sent_bytes_to = device.transport().sent_bytes_to();
      record.held_after_step = device.memory().current();
      if (options.storage == Storage::real) {
        collector.add_weights(rank, trainer);
      }
    }
    record.peak = device.memory().peak();
    record.peak_total = device.memory().peak_total();
    record.held_at_the_end = device.memory().current_total();
    record.events = device.events();
  };
  run_local_cluster(world_size, body);
  return collector.take();
}

void expect_same_weights(const TrainingRun& a, const TrainingRun& b) {
  ASSERT_EQ(a.weights.size(), b.weights.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    const bool same =
        std::bit_cast<std::uint32_t>(a.weights[i]) == std::bit_cast<std::uint32_t>(b.weights[i]);
    different += same ? 0 : 1;
  }
  EXPECT_EQ(different, 0U) << "of " << a.weights.size() << " weights differ";
}

}  // namespace shardscope::testing
