#include "sim/cluster/rank.h"

namespace shardscope {
namespace {

// Of the scenario's devices, the rank's, which may be slower or faster.
DeviceSpec device_of(const Scenario& scenario, int rank) {
  const std::vector<RankSpeed>& speeds = scenario.cluster.rank_speeds;
  return speeds.empty() ? scenario.device
                        : scaled(scenario.device, speeds[static_cast<std::size_t>(rank)].speed);
}

// The ranks of a node share its CPUs.
SimGridDevice::Host host_part(const Scenario& scenario, int rank) {
  if (!scenario.training.optimizer_on_host) {
    return {};
  }
  int sharing = 0;
  const std::size_t devices = scenario.cluster.devices_per_node;
  const std::size_t node = scenario.cluster.placement[static_cast<std::size_t>(rank)] / devices;
  for (const std::size_t device : scenario.cluster.placement) {
    sharing += device / devices == node ? 1 : 0;
  }
  return {.link_bytes_per_s = scenario.host.link_bytes_per_s,
          .adam_parameters_per_s = scenario.host.adam_parameters_per_s / sharing};
}

bool speed_changes(const Scenario& scenario, int rank) {
  const std::vector<RankSpeed>& speeds = scenario.cluster.rank_speeds;
  if (speeds.empty()) {
    return false;
  }
  const RankSpeed& speed = speeds[static_cast<std::size_t>(rank)];
  return speed.has_profile || !speed.changes.empty();
}

}  // namespace

Rank::Rank(const Scenario& scenario, const Strategy& strategy, const WeightSource& weights,
           const BatchSource* batches, const Platform& platform, const CollectivePlanner& planner,
           Exchange& exchange, const RecordedSteps& recorded, int rank)
    : scenario_(scenario),
      strategy_(strategy),
      weights_(weights),
      batches_(batches),
      planner_(planner),
      exchange_(exchange),
      rank_(rank),
      device_spec_(device_of(scenario, rank)),
      traffic_(platform, rank),
      recorder_(recorded, rank, scenario) {}

void Rank::run(const StateSource* resumed, SavePoint* save_point,
               const std::function<void(std::int64_t)>& on_step) {
  device_.emplace(device_spec_, host_part(scenario_, rank_), speed_changes(scenario_, rank_),
                  traffic_, exchange_, recorder_);
  group_.emplace(*device_, rank_, scenario_.world_size, scenario_.training.storage, planner_);
  trainer_.emplace(strategy_, scenario_.model, scenario_.training, *group_, batches_);
  if (resumed != nullptr) {
    trainer_->initialize(*resumed);
  } else {
    trainer_->initialize(weights_);
  }
  const auto steps = static_cast<std::int64_t>(scenario_.training.steps);
  resumed_steps_ = trainer_->progress().steps;
  for (std::int64_t step = resumed_steps_ + 1; step <= steps; ++step) {
    recorder_.begin_step(step, device_->timeline().last_s());
    const StepDiagnostics diagnostics = trainer_->step();
    if (save_point != nullptr && save_point->is_due(step)) {
      save(*save_point);
    }
    steps_.push_back(finish_step(diagnostics));
    recorder_.end_step(device_->timeline().last_s());
    if (on_step) {
      on_step(step);
    }
  }
}

void Rank::save(SavePoint& save_point) {
  device_->enter(Phase::checkpoint);
  device_->synchronize();
  std::uint64_t bytes = 0;
  for (const OwnedState& part : trainer_->owned_state()) {
    bytes += part.weights.bytes() + part.first_moment.bytes() + part.second_moment.bytes();
  }
  device_->saved(bytes, save_point.save(bytes));
}

RankStepRecord Rank::finish_step(StepDiagnostics diagnostics) {
  device_->synchronize();
  const WireCounters& wire = traffic_.counters();
  const RankStepRecord record = {
      .time = device_->timeline().finish_step(),
      .wire = {.sent_bytes = wire.sent_bytes - wire_before_.sent_bytes,
               .between_nodes_bytes = wire.between_nodes_bytes - wire_before_.between_nodes_bytes,
               .control_sent_bytes = wire.control_sent_bytes - wire_before_.control_sent_bytes,
               .received_bytes = wire.received_bytes - wire_before_.received_bytes},
      .diagnostics = diagnostics};
  wire_before_ = wire;
  return record;
}

}  // namespace shardscope
