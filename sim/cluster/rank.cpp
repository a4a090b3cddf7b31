#include "sim/cluster/rank.h"

namespace shardscope {

Rank::Rank(const Scenario& scenario, const Strategy& strategy, const WeightSource& weights,
           const BatchSource* batches, const Platform& platform, const RecordedSteps& recorded,
           int rank)
    : scenario_(scenario),
      strategy_(strategy),
      weights_(weights),
      batches_(batches),
      rank_(rank),
      transport_(platform, rank),
      recorder_(recorded, rank, scenario.world_size, scenario.model.layer_count(),
                scenario.training.steps) {}

void Rank::run(const std::function<void(std::int64_t)>& on_step) {
  device_.emplace(scenario_.device, transport_, recorder_);
  group_.emplace(*device_, rank_, scenario_.world_size, scenario_.training.storage);
  trainer_.emplace(strategy_, scenario_.model, scenario_.training, *group_, batches_);
  trainer_->initialize(weights_);
  for (std::size_t t = 1; t <= scenario_.training.steps; ++t) {
    const auto step = static_cast<std::int64_t>(t);
    recorder_.begin_step(step, device_->timeline().last_s());
    steps_.push_back(finish_step(trainer_->step()));
    recorder_.end_step(device_->timeline().last_s());
    if (on_step) {
      on_step(step);
    }
  }
}

RankStepRecord Rank::finish_step(StepDiagnostics diagnostics) {
  device_->synchronize();
  const WireCounters& wire = transport_.counters();
  const RankStepRecord record = {
      .time = device_->timeline().finish_step(),
      .wire = {.sent_bytes = wire.sent_bytes - wire_before_.sent_bytes,
               .control_sent_bytes = wire.control_sent_bytes - wire_before_.control_sent_bytes,
               .received_bytes = wire.received_bytes - wire_before_.received_bytes,
               .received_messages = wire.received_messages - wire_before_.received_messages},
      .diagnostics = diagnostics};
  wire_before_ = wire;
  return record;
}

}  // namespace shardscope
