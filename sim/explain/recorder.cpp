#include "sim/explain/recorder.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

std::vector<float> values_of(Tensor tensor) {
  std::vector<float> values(tensor.count);
  convert(Tensor::of(values.data(), values.size()), tensor);
  return values;
}

std::vector<float> values_of(TensorList tensors) {
  std::vector<float> values;
  for (const Tensor& tensor : tensors) {
    const std::vector<float> more = values_of(tensor);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

// The data's chunks, all or one of them.
std::vector<std::vector<float>> chunks_of(const Collective& collective, bool all, int only) {
  const ChunkedTensor& data = collective.data();
  std::vector<std::vector<float>> chunks(
      static_cast<std::size_t>(collective.schedule().world_size()));
  for (int c = 0; c < collective.schedule().world_size(); ++c) {
    if (all || c == only) {
      std::vector<Tensor> pieces;
      data.append(data.chunking().range(c), pieces);
      chunks[static_cast<std::size_t>(c)] = values_of(TensorList(pieces));
    }
  }
  return chunks;
}

// The place of the nth message from a rank among those that a receiver takes in a round.
std::size_t place_of(const Round& receiver, int from, std::size_t nth) {
  for (std::size_t i = 0; i < receiver.receives().size(); ++i) {
    if (receiver.receives()[i].peer == from && nth-- == 0) {
      return i;
    }
  }
  SHARDSCOPE_CHECK(false, "a send has no receive");
  return 0;
}

// The messages' values beside what the schedule says of them.
std::vector<SentMessage> sent_messages(const Schedule& schedule, const RankGroup& group, int rank,
                                       std::vector<std::vector<float>> messages) {
  std::vector<SentMessage> sent;
  for (int i = 0; i < schedule.rounds(); ++i) {
    const Round round = schedule.round(rank, i);
    std::map<int, std::size_t> sent_to;  // By peer, in this round.
    for (const Transfer& send : round.sends()) {
      SHARDSCOPE_CHECK(sent.size() < messages.size(), "fewer messages than the schedule has");
      const std::span<const Range> ranges = round.ranges(send);
      const Round receiver = schedule.round(send.peer, i);
      const std::size_t place = place_of(receiver, rank, sent_to[send.peer]++);
      sent.push_back({.round = i,
                      .to = group.world_rank(send.peer),
                      .ranges = {ranges.begin(), ranges.end()},
                      .place = place,
                      .adds = receiver.receives()[place].arrival == Arrival::is_added,
                      .values = std::move(messages[sent.size()])});
    }
  }
  SHARDSCOPE_CHECK(sent.size() == messages.size(), "more messages than the schedule has");
  return sent;
}

}  // namespace

std::unique_ptr<Request> RecordingTransport::isend(int peer, TensorList data) {
  sent_bytes_ += bytes_of(data);
  sent_.push_back(values_of(data));
  return inner_.isend(peer, data);
}

std::vector<std::vector<float>> RecordingTransport::take_sent() { return std::exchange(sent_, {}); }

void RecordingDevice::compute(std::string_view kernel, Cost cost) {
  if (trainer_ != nullptr) {
    mark_update();
    add_moment().kernel = kernel;
  }
  inner_.compute(kernel, cost);
}

class RecordingDevice::DoneWork final : public Work {
 public:
  DoneWork(RecordingDevice& device, std::unique_ptr<Collective> done)
      : device_(device),
        done_(std::move(done)),
        index_(device.collectives_),
        moments_(device.log_.moments.size()) {}

  void wait() override {
    if (device_.trainer_ != nullptr && device_.log_.moments.size() != moments_) {
      device_.add_moment().waits_for = index_;
    }
    done_.reset();
  }

 private:
  RecordingDevice& device_;
  std::unique_ptr<Collective> done_;
  std::size_t index_;
  std::size_t moments_;  // Written down when it was begun.
};

std::unique_ptr<Work> RecordingDevice::enqueue(std::unique_ptr<Collective> collective) {
  if (trainer_ == nullptr) {
    collective->run(transport_);
    transport_.take_sent();
    return std::make_unique<DoneWork>(*this, std::move(collective));
  }
  const Schedule& schedule = collective->schedule();
  const Operation operation = schedule.operation();
  const RankGroup& group = collective->group();
  const int rank = group.group_rank(transport_.rank());
  mark_update();
  Moment& moment = add_moment();
  CollectiveLog& log = moment.collective.emplace();
  log.name = collective->name();
  log.operation = operation;
  log.algorithm = schedule.algorithm();
  log.purpose = collective->purpose();
  log.group = group;
  log.group_rank = rank;
  log.chunking = schedule.chunking();
  log.dtype = collective->data().dtype();
  log.before = chunks_of(*collective, operation != Operation::all_gather, rank);
  const std::uint64_t sent_bytes = transport_.sent_bytes();
  collective->run(transport_);
  log.after = chunks_of(*collective, operation != Operation::reduce_scatter, rank);
  log.sent = sent_messages(schedule, group, rank, transport_.take_sent());
  if (log.purpose != Purpose::data) {
    control_bytes_ += transport_.sent_bytes() - sent_bytes;
  }
  moment.sent_bytes = transport_.sent_bytes() - sent_before_ - control_bytes_;
  auto work = std::make_unique<DoneWork>(*this, std::move(collective));
  ++collectives_;
  return work;
}

void RecordingDevice::begin(const Trainer& trainer) {
  trainer_ = &trainer;
  sent_before_ = transport_.sent_bytes();
  add_moment();
}

StepLog RecordingDevice::finish(const StepDiagnostics& diagnostics) {
  add_moment();
  const TrainingProgress progress = trainer_->progress();
  trainer_ = nullptr;
  log_.loss = diagnostics.local_loss;
  log_.loss_scale = diagnostics.loss_scale;
  log_.next_loss_scale = progress.loss_scale.scale;
  log_.update = progress.updates;
  log_.skipped = diagnostics.update.skipped;
  log_.norm = diagnostics.update.norm;
  log_.peak_bytes = memory().peak_total();
  return std::exchange(log_, {});
}

// Where the update begins, a moment of its own: a rank that owns nothing has no kernel there.
void RecordingDevice::mark_update() {
  if (position().phase == Phase::optimizer &&
      log_.moments.back().position.phase == Phase::backward) {
    add_moment();
  }
}

Moment& RecordingDevice::add_moment() {
  Moment& moment = log_.moments.emplace_back();
  moment.position = position();
  for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
    moment.states[i] = values_of(trainer_->held(static_cast<Category>(i)));
  }
  moment.held = memory().current();
  moment.sent_bytes = transport_.sent_bytes() - sent_before_ - control_bytes_;
  return moment;
}

}  // namespace shardscope
