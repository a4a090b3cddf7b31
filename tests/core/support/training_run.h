// A whole training on a local cluster, and everything the tests want to know about it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/collectives/planner.h"
#include "core/data/sources.h"
#include "core/training/options.h"
#include "core/training/strategy.h"
#include "core/training/zero_optimizer.h"
#include "tests/core/support/recording_device.h"

namespace shardscope::testing {

struct RankRecord {
  CategoryBytes state_after_initialization{};
  CategoryBytes held_after_step{};  // The last one.
  CategoryBytes peak{};
  std::uint64_t peak_total = 0;
  std::vector<std::uint64_t> sent_bytes;  // Of each step.
  std::vector<std::uint64_t> received_bytes;
  std::map<int, std::uint64_t> sent_bytes_to;  // By peer, in all steps.
  std::vector<DeviceEvent> events;
  std::uint64_t held_at_the_end = 0;  // When the trainer is gone.
};

struct TrainingRun {
  std::vector<double> losses;          // Mean over ranks, of each step.
  std::vector<double> gradient_norms;  // Global, of each step.
  std::vector<UpdateReport> updates;   // Of rank 0, of each step.
  std::vector<double> loss_scales;     // The same.
  std::vector<float> weights;          // Final, in torch order; empty if shape-only.
  std::vector<RankRecord> ranks;
};

/// Trains options.steps steps, with collectives as planned. Throws OutOfMemory.
TrainingRun train(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
                  int world_size, const WeightSource& weights, const BatchSource& batches,
                  RunCollectives when = RunCollectives::when_enqueued,
                  const CollectivePlanner& planner = ring_planner());

/// Fails the test unless both runs have the same weights, bit for bit.
void expect_same_weights(const TrainingRun& a, const TrainingRun& b);

}  // namespace shardscope::testing
