// A row: what came of one point with one strategy, in the figures that are compared. As a line of
// points.jsonl it also carries everything that `run --json` says of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/sweep/sweep.h"

namespace shardscope {

struct Scenario;
class RunResult;

enum class Outcome { missing, completed, out_of_memory, failed };

/// As in files: "completed", "out_of_memory", "failed".
std::string_view name(Outcome outcome);

/// Times and bytes are those of the text report: times are means over steps 2, 3, ... (step 1 if it
/// is the only one) of the rank that finishes each step last; memory is that of the fullest rank;
/// bytes are those the rank that sends most sends in the last step. Zero unless it completed.
struct Row {
  Outcome outcome = Outcome::missing;
  double wall_s = 0;
  double forward_s = 0;
  double backward_s = 0;
  double optimizer_s = 0;
  double checkpoint_s = 0;
  double exposed_communication_s = 0;
  double busy_communication_s = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t capacity_bytes = 0;  ///< Of a device; 0 if there was no scenario.
  std::uint64_t sent_bytes = 0;
  std::uint64_t skipped_steps = 0;  ///< Of all: their gradients overflowed.
  std::optional<double> loss;       ///< Of the last step; NaN if it is no finite number.
  std::string limiting_factor;      ///< As in JSON.
  std::string reason;               ///< Why it did not complete.

  double compute_s() const { return forward_s + backward_s + optimizer_s; }
};

/// The line of a run, without its end. A line ends with a digest of itself, so that damage is seen.
std::string result_line(const Sweep& sweep, std::size_t task, const Scenario& scenario,
                        const RunResult& run);

/// The line of a task that has no run.
std::string failure_line(const Sweep& sweep, std::size_t task, const std::string& reason);

/// A line as it was read.
struct ReadLine {
  std::size_t task = 0;
  Row row;
};

/// Nothing, and why, if the line is no result of this sweep.
std::optional<ReadLine> read_line(const Sweep& sweep, std::string_view line, std::string& problem);

}  // namespace shardscope
