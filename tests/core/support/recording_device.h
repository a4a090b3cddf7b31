// A device that writes down what it is asked to do, and a transport that counts what passes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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
  std::unique_ptr<Request> isend(int peer, TensorList data) override;
  using Transport::recv;
  void recv(std::span<const Incoming> messages) override;

  Transport& inner() { return inner_; }

  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t received_bytes() const { return received_bytes_; }
  std::uint64_t sent_messages() const { return sent_messages_; }

  /// By world rank of the peer.
  const std::map<int, std::uint64_t>& sent_bytes_to() const { return sent_bytes_to_; }

 private:
  Transport& inner_;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t sent_messages_ = 0;
  std::map<int, std::uint64_t> sent_bytes_to_;
};

/// One call, with the rank's memory when it was made.
struct DeviceEvent {
  std::string what;  // "compute", "host", "wait", or a collective's operation.
  Phase phase = Phase::initialization;
  double flops = 0;
  double bytes = 0;
  std::size_t count = 0;
  std::size_t chunk = 0;
  CategoryBytes held{};

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

std::ostream& operator<<(std::ostream& out, const DeviceEvent& event);

/// When a device runs the collectives it is given. A real one may do so at any moment in between,
/// so that a training must end alike with both.
enum class RunCollectives { when_enqueued, when_waited_for };

/// Runs collectives over a CountingTransport, in their order; their staging lives until they are
/// waited for.
class RecordingDevice final : public Device {
 public:
  explicit RecordingDevice(LocalRank rank, RunCollectives when = RunCollectives::when_enqueued)
      : inner_(rank.device), transport_(rank.transport), when_(when) {}

  MemoryLedger& memory() override { return inner_.memory(); }
  void compute(std::string_view kernel, Cost cost) override;
  void on_host(std::string_view kernel, HostWork work) override;
  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override;

  const CountingTransport& transport() const { return transport_; }
  const std::vector<DeviceEvent>& events() const { return events_; }

 private:
  class RecordingWork;

  void run(Collective& collective);
  void run_up_to(const Collective& last);

  Device& inner_;
  CountingTransport transport_;
  RunCollectives when_;
  std::deque<Collective*> waiting_;  // To be run, in the order they were enqueued.
  std::vector<DeviceEvent> events_;
};

}  // namespace shardscope::testing
