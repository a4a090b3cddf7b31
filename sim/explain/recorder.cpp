#include "sim/explain/recorder.h"

#include <algorithm>
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

// The data's chunks, all or one of them.
std::vector<std::vector<float>> chunks_of(const Collective& collective, bool all, int only) {
  const ChunkedTensor& data = collective.data();
  std::vector<std::vector<float>> chunks(
      static_cast<std::size_t>(collective.schedule().world_size()));
  for (int c = 0; c < collective.schedule().world_size(); ++c) {
    if (all || c == only) {
      std::vector<float>& chunk = chunks[static_cast<std::size_t>(c)];
      chunk.resize(data.chunking().size(c));
      data.pack(c, Tensor::of(chunk.data(), chunk.size()));
    }
  }
  return chunks;
}

// The messages' values beside what the schedule says of them.
std::vector<SentChunk> sent_chunks(const Schedule& schedule, int rank,
                                   std::vector<std::vector<float>> messages) {
  std::vector<SentChunk> sent;
  for (int i = 0; i < schedule.rounds(); ++i) {
    if (const std::optional<Transfer> to = schedule.round(rank, i).send) {
      SHARDSCOPE_CHECK(sent.size() < messages.size(), "fewer messages than the schedule has");
      sent.push_back({.round = i,
                      .to = *to,
                      .adds = schedule.round(to->peer, i).reduce,
                      .values = std::move(messages[sent.size()])});
    }
  }
  SHARDSCOPE_CHECK(sent.size() == messages.size(), "more messages than the schedule has");
  return sent;
}

class DoneWork final : public Work {
 public:
  explicit DoneWork(std::unique_ptr<Collective> done) : done_(std::move(done)) {}
  void wait() override { done_.reset(); }

 private:
  std::unique_ptr<Collective> done_;
};

}  // namespace

std::unique_ptr<Request> RecordingTransport::isend(int peer, Tensor data) {
  sent_bytes_ += data.bytes();
  sent_.push_back(values_of(data));
  return inner_.isend(peer, data);
}

std::vector<std::vector<float>> RecordingTransport::take_sent() { return std::exchange(sent_, {}); }

void RecordingDevice::compute(std::string_view kernel, Cost cost) {
  if (trainer_ != nullptr) {
    add_moment().kernel = kernel;
  }
  inner_.compute(kernel, cost);
}

std::unique_ptr<Work> RecordingDevice::enqueue(std::unique_ptr<Collective> collective) {
  if (trainer_ == nullptr) {
    collective->run(transport_);
    transport_.take_sent();
    return std::make_unique<DoneWork>(std::move(collective));
  }
  const Schedule& schedule = collective->schedule();
  const Operation operation = schedule.operation();
  const int rank = transport_.rank();
  SHARDSCOPE_CHECK(collective->layers().has_value(), "a step's collective is of some layers");
  Moment& moment = add_moment();
  CollectiveLog& log = moment.collective.emplace();
  log.name = collective->name();
  log.operation = operation;
  log.chunking = schedule.chunking();
  log.layers = *collective->layers();
  log.dtype = collective->data().dtype();
  log.before = chunks_of(*collective, operation != Operation::all_gather, rank);
  collective->run(transport_);
  log.after = chunks_of(*collective, operation != Operation::reduce_scatter, rank);
  log.sent = sent_chunks(schedule, rank, transport_.take_sent());
  moment.sent_bytes = transport_.sent_bytes() - sent_before_;
  return std::make_unique<DoneWork>(std::move(collective));
}

void RecordingDevice::begin(const Trainer& trainer) {
  trainer_ = &trainer;
  sent_before_ = transport_.sent_bytes();
  add_moment();
}

StepLog RecordingDevice::finish(const StepDiagnostics& diagnostics) {
  add_moment();
  trainer_ = nullptr;
  log_.loss = diagnostics.local_loss;
  log_.peak_bytes = memory().peak_total();
  return std::exchange(log_, {});
}

Moment& RecordingDevice::add_moment() {
  Moment& moment = log_.moments.emplace_back();
  moment.position = position();
  for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
    moment.states[i] = values_of(trainer_->held(static_cast<Category>(i)));
  }
  moment.held = memory().current();
  moment.sent_bytes = transport_.sent_bytes() - sent_before_;
  return moment;
}

}  // namespace shardscope
