// What one rank did in one training step, written down while it happened.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/collectives/collective.h"
#include "core/device/position.h"
#include "core/tensor/dtype.h"
#include "core/tensor/ledger.h"

namespace shardscope {

/// A message as it left the rank, and what its receiver does with it.
struct SentMessage {
  int round = 0;
  int to = 0;                 ///< Of all ranks.
  std::vector<Range> ranges;  ///< Of the collective's vector.
  std::size_t place = 0;      ///< Among those that the receiver takes in the round, one by one.
  bool adds = false;          ///< Else it is copied.
  std::vector<float> values;  ///< Of the ranges, one after another.
};

struct CollectiveLog {
  std::string name;
  Operation operation{};
  Algorithm algorithm{};  ///< Whose messages they are.
  Purpose purpose{};
  RankGroup group;
  int group_rank = 0;
  Chunking chunking;
  DType dtype{};

  /// The chunks that mean something on this rank: what it contributes, and what it ends up with.
  /// The others are empty: an all_gather overwrites them, a reduce_scatter leaves partial sums.
  std::vector<std::vector<float>> before;
  std::vector<std::vector<float>> after;

  std::vector<SentMessage> sent;  ///< In the order of rounds.
};

/// Values of each model state, as Trainer::held has them.
using StateValues = std::array<std::vector<float>, kStateCategoryCount>;

/// The rank just before a kernel, around a collective, or where it waits for one that was begun
/// before something else; or, with none of them, where the step and its update begin and where it
/// ends.
struct Moment {
  TrainingPosition position;
  std::string kernel;
  std::optional<CollectiveLog> collective;
  std::optional<std::size_t> waits_for;  ///< The step's collectives counted from 0.
  StateValues states;
  CategoryBytes held{};
  std::uint64_t sent_bytes = 0;  ///< Of data in this step, with what the moment's collective sent.
};

struct StepLog {
  std::vector<Moment> moments;
  double loss = 0;        ///< Mean over the rank's rows.
  double loss_scale = 1;  ///< Of this step, and of the next one.
  double next_loss_scale = 1;
  std::int64_t update = 0;  ///< Adam's count of updates, with this one if it is one.
  bool skipped = false;
  std::optional<double> norm;    ///< Before clipping; only if it was needed.
  std::uint64_t peak_bytes = 0;  ///< The most the rank ever held.
};

}  // namespace shardscope
