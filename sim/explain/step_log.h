// What one rank did in one training step, written down while it happened.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/collectives/schedule.h"
#include "core/device/position.h"
#include "core/nn/model.h"
#include "core/tensor/dtype.h"
#include "core/tensor/ledger.h"

namespace shardscope {

/// A chunk as it left the rank, and what its receiver does with it.
struct SentChunk {
  int round = 0;
  Transfer to;
  bool adds = false;  ///< Else it is copied.
  std::vector<float> values;
};

struct CollectiveLog {
  std::string name;
  Operation operation{};
  Chunking chunking;
  LayerRange layers;
  DType dtype{};

  /// The chunks that mean something on this rank: what it contributes, and what it ends up with.
  /// The others are empty: an all_gather overwrites them, a reduce_scatter leaves partial sums.
  std::vector<std::vector<float>> before;
  std::vector<std::vector<float>> after;

  std::vector<SentChunk> sent;  ///< In the order of rounds.
};

/// Values of each model state, as Trainer::held has them.
using StateValues = std::array<std::vector<float>, kStateCategoryCount>;

/// The rank just before a kernel, or around a collective; or, with neither, where the step begins
/// and where it ends.
struct Moment {
  TrainingPosition position;
  std::string kernel;
  std::optional<CollectiveLog> collective;
  StateValues states;
  CategoryBytes held{};
  std::uint64_t sent_bytes = 0;  ///< In this step, with what the moment's collective sent.
};

struct StepLog {
  std::vector<Moment> moments;
  double loss = 0;               ///< Mean over the rank's rows.
  std::uint64_t peak_bytes = 0;  ///< The most the rank ever held.
};

}  // namespace shardscope
