// A device that writes down what it is asked to do, and a transport that counts what passes it.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/device/local_cluster.h"

namespace shardscope::testing {

class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int world_size() const override { return inner_.world_size(); }
  std::unique_ptr<Request> isend(int peer, Tensor data) override;
  void recv(int peer, Tensor data) override;

  Transport& inner() { return inner_; }

  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t received_bytes() const { return received_bytes_; }
  std::uint64_t sent_messages() const { return sent_messages_; }

 private:
  Transport& inner_;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t sent_messages_ = 0;
};

/// One call, with the rank's memory when it was made.
struct DeviceEvent {
  std::string what;  // "compute", "wait", or a collective's operation.
  Phase phase = Phase::initialization;
  double flops = 0;
  double bytes = 0;
  std::size_t count = 0;
  std::size_t chunk = 0;
  CategoryBytes held{};

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

std::ostream& operator<<(std::ostream& out, const DeviceEvent& event);

/// Runs collectives when they are enqueued, over a CountingTransport; their staging lives until
/// they are waited for.
class RecordingDevice final : public Device {
 public:
  explicit RecordingDevice(LocalRank rank) : inner_(rank.device), transport_(rank.transport) {}

  MemoryLedger& memory() override { return inner_.memory(); }
  void compute(std::string_view kernel, Cost cost) override;
  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override;

  const CountingTransport& transport() const { return transport_; }
  const std::vector<DeviceEvent>& events() const { return events_; }

 private:
  class RecordingWork;

  Device& inner_;
  CountingTransport transport_;
  std::vector<DeviceEvent> events_;
};

}  // namespace shardscope::testing
