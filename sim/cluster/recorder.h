// Writes down what a rank does in the steps that were asked for, within a budget: traces, timelines
// and critical paths are made from it.
//
// Every rank decides alike what is left out, because the budget is spent by what is the same on all
// ranks: the most messages of a collective and layers.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "core/collectives/collective.h"
#include "core/device/position.h"
#include "core/nn/cost.h"
#include "sim/cluster/recorded_steps.h"
#include "sim/cluster/roofline.h"

namespace shardscope {

class ComputeOperation;
class RankRecording;
class RecordedCollective;
struct Scenario;

/// What a layer's kernels in a micro-step are counted as.
inline constexpr std::int64_t kCountedKernelsPerLayer = 8;

/// The same of a rank's kernels in a step. A step is recorded only if the budget has that
/// much left for each rank.
std::int64_t counted_kernels(const Scenario& scenario);

/// The compute stream calls everything.
class Recorder {
 public:
  Recorder(const RecordedSteps& wanted, int rank, const Scenario& scenario);
  ~Recorder();

  void begin_step(std::int64_t t, double now_s);
  void end_step(double now_s);

  void kernel(const TrainingPosition& position, std::string_view name, Cost cost,
              const KernelTime& time, double begin_s, double end_s);

  /// What the communication stream writes to; null if the step is not recorded. It stays valid.
  /// `is_flow`: it has no messages to be written down.
  RecordedCollective* enqueue(const TrainingPosition& position, const Collective& collective,
                              bool is_flow, double now_s);
  void wait(const TrainingPosition& position, const RecordedCollective& collective, double begin_s,
            double end_s);

  const std::deque<RankRecording>& steps() const { return steps_; }

 private:
  bool wants(std::int64_t t) const;
  void follow(Phase phase);
  bool is_in_micro_step() const;
  ComputeOperation& add(const TrainingPosition& position, double begin_s, double end_s);

  RecordedSteps wanted_;
  int rank_;
  std::int64_t full_budget_;
  std::int64_t budget_;
  std::int64_t kernels_;
  std::int64_t final_step_;
  std::deque<RankRecording> steps_;
  bool counts_micro_steps_;
  int micro_step_ = 0;
  Phase phase_ = Phase::initialization;  // Of the last operation.
  RankRecording* step_ = nullptr;        // Under way, if it is recorded.
};

}  // namespace shardscope
