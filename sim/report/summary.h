// A run in the few figures that its text report compares.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/ledger.h"

namespace shardscope {

class RunResult;

/// Seconds of a step, or their mean over steps.
struct MeanTime {
  double wall_s = 0;
  double forward_s = 0;
  double backward_s = 0;
  double optimizer_s = 0;
  double checkpoint_s = 0;  ///< Saving checkpoints.
  double exposed_s = 0;     ///< Compute waiting for communication.
  double busy_s = 0;        ///< Communication in flight, hidden or not.

  /// In flight while compute went on.
  double hidden_s() const { return busy_s - exposed_s; }
};

/// Memory of the rank whose peak is highest, the lowest rank on a tie.
struct FullestRank {
  int rank = 0;
  CategoryBytes peak{};
  CategoryBytes state{};            ///< The state categories; held when the run ended.
  CategoryBytes predicted_state{};  ///< Of the same rank.
  std::uint64_t peak_total = 0;
  std::uint64_t predicted_peak = 0;
};

/// Bytes of the last step.
struct WireBytes {
  std::uint64_t sent = 0;  ///< By the rank that sends most.
  std::uint64_t predicted_sent = 0;
  std::uint64_t received = 0;  ///< By the rank that receives most.
  std::uint64_t all_ranks_sent = 0;

  /// Norms for clipping and overflow flags, which are in none of the others; by the rank that sends
  /// most of them.
  std::uint64_t control_sent = 0;
};

/// Consecutive steps in which the rank that sends most sends so much.
struct WireSteps {
  std::int64_t first = 1;
  std::int64_t last = 1;
  std::uint64_t sent = 0;
};

struct RunSummary {
  bool completed = false;
  MeanTime mean;  ///< Over steps 2, 3, ...; of step 1 if it is the only one.
  FullestRank memory;
  WireBytes wire;

  /// The first rank (and step) whose bytes differ from the formula: "rank 3: gradients 16 B, ..."
  std::optional<std::string> state_difference;
  std::optional<std::string> wire_difference;
  std::optional<std::string> peak_difference;

  std::vector<int> skipped_steps;     ///< Gradients overflowed under a dynamic loss scale.
  std::vector<WireSteps> wire_steps;  ///< Several if steps differ.
};

RunSummary summarize(const RunResult& run);

/// The sum of the state categories.
std::uint64_t state_total(const CategoryBytes& bytes);

}  // namespace shardscope
