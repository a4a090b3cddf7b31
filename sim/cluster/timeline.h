// Where a rank's time goes. Clock readings telescope: each ends one part and begins the next, so
// that the parts of a step add up to its wall time.
//
// The compute stream calls everything but add_busy, which is the communication stream's.
#pragma once

#include <array>

#include "core/device/device.h"

namespace shardscope {

inline constexpr std::size_t kPhaseCount = 5;

/// One step of one rank; seconds.
struct StepTime {
  double begin_s = 0;
  double end_s = 0;
  std::array<double, kPhaseCount> compute_s{};  ///< By Phase.
  std::array<double, kPhaseCount> exposed_s{};  ///< Waiting for communication, by Phase.
  double busy_communication_s = 0;

  double wall_s() const { return end_s - begin_s; }
};

class Timeline {
 public:
  /// The time since the last reading was a kernel of the phase, or a wait for communication in it.
  void computed(Phase phase, double now_s) { take(step_.compute_s, phase, now_s); }
  void waited(Phase phase, double now_s) { take(step_.exposed_s, phase, now_s); }

  /// A collective was in flight for that long. Collectives of a rank do not overlap each other.
  void add_busy(double seconds) { step_.busy_communication_s += seconds; }

  /// The last reading.
  double last_s() const { return last_s_; }

  /// Ends the step at the last reading and begins the next there.
  StepTime finish_step() {
    step_.end_s = last_s_;
    const StepTime finished = step_;
    step_ = {};
    step_.begin_s = last_s_;
    return finished;
  }

 private:
  void take(std::array<double, kPhaseCount>& parts, Phase phase, double now_s) {
    parts[static_cast<std::size_t>(phase)] += now_s - last_s_;
    last_s_ = now_s;
  }

  StepTime step_;
  double last_s_ = 0;
};

}  // namespace shardscope
