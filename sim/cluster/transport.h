// Transport on SimGrid: a message is a SimGrid communication, its payload copied by SimGrid when
// the last byte leaves, and seen by the receiver one path latency later.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/collectives/transport.h"
#include "sim/cluster/network.h"

namespace shardscope {

/// What a rank's messages amounted to.
struct WireCounters {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t received_messages = 0;
};

/// The mailboxes between all pairs of ranks, made when first used.
class Wires {
 public:
  explicit Wires(const Platform& platform);
  ~Wires();

  /// A rank's end. Its calls must come from one actor on the rank's host. The wires and the
  /// counters must outlive it.
  std::unique_ptr<Transport> transport(int rank, WireCounters& counters);

 private:
  class Channel;
  class End;
  class Sending;
  class Receiving;

  Channel& channel(int from, int to);

  const Platform& platform_;
  std::mutex mutex_;  // Of the channels: actors may run on several threads.
  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace shardscope
