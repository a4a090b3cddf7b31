#include "tests/core/support/recording_device.h"

#include <algorithm>
#include <utility>

namespace shardscope::testing {

std::unique_ptr<Request> CountingTransport::isend(int peer, TensorList data) {
  sent_bytes_ += bytes_of(data);
  sent_bytes_to_[peer] += bytes_of(data);
  ++sent_messages_;
  return inner_.isend(peer, data);
}

void CountingTransport::recv(std::span<const Incoming> messages) {
  for (const Incoming& message : messages) {
    received_bytes_ += bytes_of(message.data);
  }
  inner_.recv(messages);
}

std::ostream& operator<<(std::ostream& out, const DeviceEvent& event) {
  out << event.what << " in " << name(event.phase) << ", " << event.flops << " flops, "
      << event.bytes << " bytes, count " << event.count << ", chunk " << event.chunk << ", held";
  for (const std::uint64_t bytes : event.held) {
    out << ' ' << bytes;
  }
  return out;
}

class RecordingDevice::RecordingWork final : public Work {
 public:
  RecordingWork(RecordingDevice& device, std::unique_ptr<Collective> collective)
      : device_(device), collective_(std::move(collective)) {}

  void wait() override {
    device_.run_up_to(*collective_);
    device_.events_.push_back(
        {.what = "wait", .phase = device_.position().phase, .held = device_.memory().current()});
    collective_.reset();
  }

 private:
  RecordingDevice& device_;
  std::unique_ptr<Collective> collective_;
};

void RecordingDevice::compute(std::string_view kernel, Cost cost) {
  events_.push_back({.what = "compute",
                     .phase = position().phase,
                     .flops = cost.flops,
                     .bytes = cost.bytes,
                     .held = memory().current()});
  inner_.compute(kernel, cost);
}

void RecordingDevice::on_host(std::string_view kernel, HostWork work) {
  events_.push_back({.what = "host",
                     .phase = position().phase,
                     .flops = static_cast<double>(work.updated_parameters),
                     .bytes = static_cast<double>(work.link_bytes),
                     .held = memory().current()});
  inner_.on_host(kernel, work);
}

std::unique_ptr<Work> RecordingDevice::enqueue(std::unique_ptr<Collective> collective) {
  const Schedule& schedule = collective->schedule();
  events_.push_back({.what = std::string(name(schedule.operation())),
                     .phase = position().phase,
                     .count = schedule.chunking().count,
                     .chunk = schedule.chunking().chunk,
                     .held = memory().current()});
  waiting_.push_back(collective.get());
  if (when_ == RunCollectives::when_enqueued) {
    run_up_to(*collective);
  }
  return std::make_unique<RecordingWork>(*this, std::move(collective));
}

void RecordingDevice::run_up_to(const Collective& last) {
  while (std::find(waiting_.begin(), waiting_.end(), &last) != waiting_.end()) {
    run(*waiting_.front());
    waiting_.pop_front();
  }
}

void RecordingDevice::run(Collective& collective) {
  // The tables of the wire have no norms and flags.
  collective.run(collective.purpose() == Purpose::data ? static_cast<Transport&>(transport_)
                                                       : transport_.inner());
}

}  // namespace shardscope::testing
