// Transport on SimGrid: a message is a SimGrid communication; its payload is copied when the last
// byte leaves, and seen by the receiver one path latency later. Of several messages received at
// once each pays its own latency from when it left, so that latencies do not add up.
#pragma once

#include <simgrid/forward.h>

#include <cstdint>
#include <memory>
#include <simgrid/s4u/Semaphore.hpp>
#include <unordered_map>

#include "core/collectives/collective.h"
#include "core/collectives/transport.h"
#include "sim/cluster/platform.h"

namespace shardscope {

class RecordedCollective;

/// What a rank's messages amounted to.
struct WireCounters {
  std::uint64_t sent_bytes = 0;           ///< Of training data.
  std::uint64_t between_nodes_bytes = 0;  ///< The part of it that went to other nodes.
  std::uint64_t control_sent_bytes = 0;   ///< Of norms and flags, which received_bytes leaves out.
  std::uint64_t received_bytes = 0;
};

class SimGridTransport final : public Transport {
 public:
  /// Calls must come from actors on the rank's host, of which one sends. The platform must outlive
  /// the transport.
  SimGridTransport(const Platform& platform, int rank) : platform_(platform), rank_(rank) {}

  int rank() const override { return rank_; }
  int world_size() const override { return platform_.world_size(); }

  std::unique_ptr<Request> isend(int peer, TensorList data) override;
  using Transport::recv;
  void recv(std::span<const Incoming> messages) override;

  /// What follows is a collective of that purpose. Operations are written to `recorded` until the
  /// next call; null for no recording.
  void begin(Purpose purpose, RecordedCollective* recorded) {
    purpose_ = purpose;
    recorded_ = recorded;
  }

  /// What a collective of that purpose sends and receives without isend and recv.
  void count_sent(Purpose purpose, int peer, std::uint64_t bytes);
  void count_received(Purpose purpose, std::uint64_t bytes);

  const WireCounters& counters() const { return counters_; }

  /// By peer, all bytes sent to it.
  const std::unordered_map<int, std::uint64_t>& sent_to() const { return sent_to_; }

 private:
  class Sending;
  class Receiving;

  double latency_s(int peer);

  using Mailboxes = std::unordered_map<int, simgrid::s4u::Mailbox*>;

  void receive(const Incoming& message);
  void receive_at_once(std::span<const Incoming> messages);

  const Platform& platform_;
  int rank_;
  WireCounters counters_;
  Purpose purpose_ = Purpose::data;
  RecordedCollective* recorded_ = nullptr;
  simgrid::s4u::SemaphorePtr sent_ = simgrid::s4u::Semaphore::create(0);
  Mailboxes outgoing_;  // By peer, as they are used.
  Mailboxes incoming_;
  std::unordered_map<int, std::uint64_t> sent_to_;
  std::unordered_map<int, double> latencies_s_;  // Of the paths from peers, as they are used.
};

}  // namespace shardscope
