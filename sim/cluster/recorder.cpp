#include "sim/cluster/recorder.h"

#include <string>

#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

// Whether a gather is of other layers than the one that computes.
bool prefetches(const TrainingPosition& position, const Collective& collective) {
  const auto& layers = collective.layers();
  return collective.schedule().operation() == Operation::all_gather &&
         position.phase != Phase::optimizer && position.layer.has_value() && layers.has_value() &&
         (*position.layer < layers->first || *position.layer > layers->last);
}

// What moves between whom.
void describe(const Collective& collective, RecordedCollective& recorded) {
  const ChunkedTensor& data = collective.data();
  recorded.set_operation(std::string(name(collective.schedule().operation())));
  recorded.set_bytes(data.bytes());
  recorded.set_chunk_bytes(data.chunking().chunk * size_of(data.dtype()));
  RecordedGroup& group = *recorded.mutable_group();
  group.set_first(collective.group().first);
  group.set_stride(collective.group().stride);
  group.set_size(collective.group().size);
}

}  // namespace

std::int64_t counted_kernels(const Scenario& scenario) {
  return kCountedKernelsPerLayer *
         static_cast<std::int64_t>(scenario.model.layer_count() * scenario.training.micro_batches);
}

Recorder::Recorder(const RecordedSteps& wanted, int rank, const Scenario& scenario)
    : wanted_(wanted),
      rank_(rank),
      full_budget_(wanted.budget / scenario.world_size),
      budget_(full_budget_),
      kernels_(counted_kernels(scenario)),
      final_step_(static_cast<std::int64_t>(scenario.training.steps)),
      counts_micro_steps_(scenario.training.micro_batches > 1) {}

Recorder::~Recorder() = default;

bool Recorder::wants(std::int64_t t) const {
  return (wanted_.first <= t && t <= wanted_.last) || (wanted_.final_step && t == final_step_);
}

void Recorder::begin_step(std::int64_t t, double now_s) {
  step_ = nullptr;
  if (!wants(t)) {
    return;
  }
  if (wanted_.final_step && t == final_step_) {
    budget_ = full_budget_;  // What is analysed must not suffer from what is shown beside it.
  }
  if (budget_ < kernels_) {
    return;
  }
  budget_ -= kernels_;
  step_ = &steps_.emplace_back();
  step_->set_rank(rank_);
  step_->set_step(t);
  step_->set_begin_s(now_s);
  micro_step_ = 0;
  phase_ = Phase::initialization;
}

void Recorder::end_step(double now_s) {
  if (step_ != nullptr) {
    step_->set_end_s(now_s);
    step_ = nullptr;
  }
}

// A micro-step begins with its forward.
void Recorder::follow(Phase phase) {
  micro_step_ += phase == Phase::forward && phase_ != Phase::forward ? 1 : 0;
  phase_ = phase;
}

bool Recorder::is_in_micro_step() const {
  return counts_micro_steps_ && (phase_ == Phase::forward || phase_ == Phase::backward);
}

ComputeOperation& Recorder::add(const TrainingPosition& position, double begin_s, double end_s) {
  follow(position.phase);
  ComputeOperation& operation = *step_->add_compute();
  operation.set_phase(std::string(name(position.phase)));
  if (position.layer.has_value()) {
    operation.set_layer(static_cast<int>(*position.layer));
  }
  if (is_in_micro_step()) {
    operation.set_micro_step(micro_step_);
  }
  operation.set_begin_s(begin_s);
  operation.set_end_s(end_s);
  return operation;
}

void Recorder::kernel(const TrainingPosition& position, std::string_view name, Cost cost,
                      const KernelTime& time, double begin_s, double end_s) {
  if (step_ == nullptr) {
    return;
  }
  ComputeOperation& operation = add(position, begin_s, end_s);
  operation.set_kind(ComputeOperation::KERNEL);
  operation.set_kernel(std::string(name));
  operation.set_flops(cost.flops);
  operation.set_bytes(cost.bytes);
  operation.set_launch_s(time.launch_s);
}

RecordedCollective* Recorder::enqueue(const TrainingPosition& position,
                                      const Collective& collective, bool is_flow, double now_s) {
  if (step_ == nullptr) {
    return nullptr;
  }
  ComputeOperation& operation = add(position, now_s, now_s);
  operation.set_kind(ComputeOperation::ENQUEUE);
  operation.set_collective(step_->communication_size());
  RecordedCollective& recorded = *step_->add_communication();
  recorded.set_name(collective.name());
  recorded.set_phase(std::string(name(position.phase)));
  recorded.set_prefetches(prefetches(position, collective));
  describe(collective, recorded);
  if (is_in_micro_step()) {
    recorded.set_micro_step(micro_step_);
  }
  const std::int64_t messages = is_flow ? 0 : collective.schedule().messages();
  recorded.set_as_flow(is_flow);
  recorded.set_transfers_cut(is_flow || budget_ < messages);
  budget_ -= recorded.transfers_cut() ? 0 : messages;
  return &recorded;
}

void Recorder::wait(const TrainingPosition& position, const RecordedCollective& collective,
                    double begin_s, double end_s) {
  if (step_ == nullptr) {
    return;
  }
  // Found from the end: what is waited for was enqueued not long ago.
  int index = step_->communication_size() - 1;
  while (index >= 0 && &step_->communication(index) != &collective) {
    --index;
  }
  ComputeOperation& operation = add(position, begin_s, end_s);
  operation.set_kind(ComputeOperation::WAIT);
  operation.set_collective(index);
}

}  // namespace shardscope
