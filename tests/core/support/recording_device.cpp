#include "tests/core/support/recording_device.h"

#include <utility>

namespace shardscope::testing {

std::unique_ptr<Request> CountingTransport::isend(int peer, Tensor data) {
  sent_bytes_ += data.bytes();
  ++sent_messages_;
  return inner_.isend(peer, data);
}

void CountingTransport::recv(int peer, Tensor data) {
  received_bytes_ += data.bytes();
  inner_.recv(peer, data);
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
  RecordingWork(RecordingDevice& device, std::unique_ptr<Collective> done)
      : device_(device), done_(std::move(done)) {}

  void wait() override {
    device_.events_.push_back(
        {.what = "wait", .phase = device_.position().phase, .held = device_.memory().current()});
    done_.reset();
  }

 private:
  RecordingDevice& device_;
  std::unique_ptr<Collective> done_;
};

void RecordingDevice::compute(std::string_view kernel, Cost cost) {
  events_.push_back({.what = "compute",
                     .phase = position().phase,
                     .flops = cost.flops,
                     .bytes = cost.bytes,
                     .held = memory().current()});
  inner_.compute(kernel, cost);
}

std::unique_ptr<Work> RecordingDevice::enqueue(std::unique_ptr<Collective> collective) {
  const Schedule& schedule = collective->schedule();
  events_.push_back({.what = std::string(name(schedule.operation())),
                     .count = schedule.chunking().count,
                     .chunk = schedule.chunking().chunk,
                     .held = memory().current()});
  // The tables of the wire have no norms and flags.
  if (collective->purpose() == Purpose::data) {
    collective->run(transport_);
  } else {
    collective->run(transport_.inner());
  }
  return std::make_unique<RecordingWork>(*this, std::move(collective));
}

}  // namespace shardscope::testing
