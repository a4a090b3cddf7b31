// Every capacity from nothing to the peak: below it the training ends with an OutOfMemory that says
// what is true, at it the training completes.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "core/device/process_group.h"
#include "core/training/trainer.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

class Problem {
 public:
  Problem(DType precision, DType reduce_precision) {
    options.steps = 2;
    options.global_batch = 2;
    options.precision = precision;
    options.reduce_precision = reduce_precision;
  }

  ModelSpec model{{2, 3, 1}, Activation::tanh, Loss::mse};
  TrainingOptions options;
  SyntheticWeights weights{model, 1};
  SyntheticBatches batches{model, 1, 2};
};

// Trains one rank; what an OutOfMemory says must fit the ledger and the trainer at that moment.
void train_rank(LocalRank local, const Strategy& strategy, const Problem& problem,
                std::uint64_t capacity) {
  MemoryLedger& memory = local.device.memory();
  ProcessGroup group(local.device, local.transport.rank(), local.transport.world_size(),
                     Storage::real);
  Trainer trainer(strategy, problem.model, problem.options, group, &problem.batches);
  try {
    trainer.initialize(problem.weights);
    for (std::size_t step = 0; step < problem.options.steps; ++step) {
      trainer.step();
    }
  } catch (const OutOfMemory& error) {
    EXPECT_GT(error.wanted_bytes, error.free_bytes);
    EXPECT_LE(error.free_bytes, capacity);
    EXPECT_EQ(memory.capacity(), capacity);
    const TrainingPosition& position = local.device.position();
    // With a trace of the first step, parameters are kept and prefetched from the second one on.
    EXPECT_LE(position.step, strategy.gather.traced ? 2 : 1)
        << "a later step needs what the first one needed";
    EXPECT_EQ(position.step == 0, position.phase == Phase::initialization);
    // The end of backward, where all gradients are reduced together, is in no layer.
    const bool reduces_all = position.phase == Phase::backward &&
                             strategy.reduction.time == ReductionTime::after_backward &&
                             error.category == Category::communication_buckets;
    const bool in_a_layer = position.phase == Phase::forward || position.phase == Phase::backward;
    EXPECT_EQ(in_a_layer && !reduces_all, position.layer.has_value());
    EXPECT_TRUE(!position.layer.has_value() || *position.layer < problem.model.layer_count());
    const bool is_state = static_cast<std::size_t>(error.category) < kStateCategoryCount;
    const bool is_fp32_copy =
        error.category == Category::gradients && position.phase == Phase::optimizer;
    if ((is_state && !is_fp32_copy) || error.category == Category::inputs) {
      EXPECT_EQ(position.phase, Phase::initialization)
          << name(error.category) << " is allocated once, before training";
    } else if (error.category == Category::activations) {
      EXPECT_TRUE(in_a_layer) << "activations belong to layers";
    }
    throw;
  }
}

void sweep(const Strategy& strategy, const Problem& problem, int world) {
  const std::uint64_t peak = [&] {
    const TrainingRun run =
        train(strategy, problem.model, problem.options, world, problem.weights, problem.batches);
    std::uint64_t most = 0;
    for (const RankRecord& rank : run.ranks) {
      most = std::max(most, rank.peak_total);
    }
    return most;
  }();
  for (std::uint64_t capacity = 0; capacity <= peak + 1; ++capacity) {
    SCOPED_TRACE("capacity " + std::to_string(capacity) + " of " + std::to_string(peak));
    std::optional<OutOfMemory> error;
    try {
      run_local_cluster(
          world,
          [&](LocalRank local) {
            try {
              train_rank(local, strategy, problem, capacity);
            } catch (...) {
              EXPECT_EQ(local.device.memory().current_total(), 0U) << "memory is left behind";
              EXPECT_LE(local.device.memory().peak_total(), capacity);
              throw;
            }
          },
          std::vector<std::uint64_t>(static_cast<std::size_t>(world), capacity));
    } catch (const OutOfMemory& thrown) {
      error = thrown;
    }
    ASSERT_EQ(error.has_value(), capacity < peak);
  }
}

TEST(OutOfMemoryInTraining, IsThrownByEveryCapacityBelowThePeakAndByNoOther) {
  const Problem problems[] = {Problem(DType::fp32, DType::fp32), Problem(DType::fp16, DType::fp16),
                              Problem(DType::bf16, DType::fp32)};
  for (const Problem& problem : problems) {
    for (const Strategy& strategy : small_strategies()) {
      for (const int world : {1, 2}) {
        SCOPED_TRACE(std::string(strategy.name) + ", " +
                     std::string(name(problem.options.precision)) + ", world " +
                     std::to_string(world));
        sweep(strategy, problem, world);
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
