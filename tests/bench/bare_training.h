// The arithmetic of a scenario's training and nothing else: the products with their conversions,
// Adam, and the adds and copies of the collectives, one rank after another in one thread, without
// streams, messages, ledger or simulator. What a whole run is compared with.
#pragma once

#include <vector>

#include "core/device/process_group.h"
#include "core/nn/linear.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"
#include "sim/scenario/scenario.h"

namespace shardscope::bench {

class BareTraining {
 public:
  BareTraining(const Scenario& scenario, const Strategy& strategy);

  /// All steps of the scenario.
  void run();

 private:
  struct RankMemory {
    Buffer parameters, gradients, weights, first_moment, second_moment;
    Buffer inputs, staging;
    std::vector<Buffer> outputs, gradients_of_outputs;
  };

  void forward(RankMemory& rank);
  void backward(RankMemory& rank, std::size_t layer);
  void reduce(std::size_t unit);
  void update(std::int64_t t, int rank);

  std::vector<Tensor> parts(Buffer RankMemory::*buffer, const ShardUnit& unit);
  void reduce_scatter(const std::vector<Tensor>& ranks, std::size_t chunk);
  void all_gather(const std::vector<Tensor>& ranks, std::size_t chunk);
  LinearTensors layer(const Buffer& buffer, std::size_t index) const;

  const Scenario& scenario_;
  const Strategy& strategy_;
  ShardGeometry geometry_;
  std::size_t rows_;
  MemoryLedger ledger_;
  std::vector<RankMemory> ranks_;
};

}  // namespace shardscope::bench
