// Where all ranks meet to save a checkpoint: it is written when the last one comes, while no state
// changes; then every rank takes the time that its part takes, and they go on together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <simgrid/s4u/Barrier.hpp>
#include <stdexcept>
#include <string>

#include "sim/scenario/scenario.h"

namespace shardscope {

/// A checkpoint could not be written: ends the run.
class CheckpointFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SavePoint {
 public:
  /// Writes the checkpoint of all ranks; the reason if it cannot be written.
  using Write = std::function<std::optional<std::string>()>;

  SavePoint(const CheckpointSpec& spec, int ranks, Write write);

  /// Whether a checkpoint is due after that many steps.
  bool is_due(std::int64_t steps) const { return steps % spec_.every_steps == 0; }

  /// When a rank saved what is its own: from the time at which all ranks had come.
  struct Saved {
    double begin_s;
    double end_s;
  };

  /// Called by every rank's actor, with the bytes that are its own; returns when all have saved.
  /// Throws CheckpointFailed on all of them.
  Saved save(std::uint64_t bytes);

 private:
  const CheckpointSpec& spec_;
  simgrid::s4u::BarrierPtr barrier_;
  Write write_;
  int ranks_;
  std::atomic<int> arrived_ = 0;  // Ranks may run on several threads.
  std::optional<std::string> error_;
};

}  // namespace shardscope
