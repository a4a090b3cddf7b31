// One simulated rank: its traffic, its device, its trainer, and what it measured.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/training/trainer.h"
#include "sim/cluster/recorder.h"
#include "sim/cluster/save_point.h"
#include "sim/cluster/simgrid_device.h"
#include "sim/cluster/timeline.h"
#include "sim/cluster/traffic.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// What one rank did in one step.
struct RankStepRecord {
  StepTime time;
  WireCounters wire;  ///< Of this step alone.
  StepDiagnostics diagnostics;
};

class Rank {
 public:
  /// All references must outlive the rank.
  Rank(const Scenario& scenario, const Strategy& strategy, const WeightSource& weights,
       const BatchSource* batches, const Platform& platform, const CollectivePlanner& planner,
       Exchange& exchange, const RecordedSteps& recorded, int rank);

  /// The compute stream, on the rank's actor: trains all steps, or those after a saved state.
  /// `on_step` is called after each; `save_point` may be null. Throws OutOfMemory,
  /// LossScaleExhausted and CheckpointFailed.
  void run(const StateSource* resumed, SavePoint* save_point,
           const std::function<void(std::int64_t)>& on_step);

  int rank() const { return rank_; }
  const RankTraffic& traffic() const { return traffic_; }
  const std::vector<RankStepRecord>& steps() const { return steps_; }

  /// Those of the saved state that it went on from.
  std::int64_t resumed_steps() const { return resumed_steps_; }

  SimGridDevice& device() { return *device_; }
  const Recorder& recorder() const { return recorder_; }
  const SimGridDevice& device() const { return *device_; }
  const Trainer& trainer() const { return *trainer_; }

 private:
  void save(SavePoint& save_point);
  RankStepRecord finish_step(StepDiagnostics diagnostics);

  const Scenario& scenario_;
  const Strategy& strategy_;
  const WeightSource& weights_;
  const BatchSource* batches_;
  const CollectivePlanner& planner_;
  Exchange& exchange_;
  int rank_;
  DeviceSpec device_spec_;
  RankTraffic traffic_;
  Recorder recorder_;
  WireCounters wire_before_;  // At the end of the previous step.
  std::optional<SimGridDevice> device_;
  std::optional<ProcessGroup> group_;
  std::optional<Trainer> trainer_;
  std::vector<RankStepRecord> steps_;
  std::int64_t resumed_steps_ = 0;
};

}  // namespace shardscope
