// What a rank's collectives have sent and received.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/collectives/collective.h"
#include "sim/cluster/platform.h"

namespace shardscope {

/// What a rank's messages amounted to.
struct WireCounters {
  std::uint64_t sent_bytes = 0;           ///< Of training data.
  std::uint64_t between_nodes_bytes = 0;  ///< The part of it that went to other nodes.
  std::uint64_t control_sent_bytes = 0;   ///< Of norms and flags, which received_bytes leaves out.
  std::uint64_t received_bytes = 0;
};

class RankTraffic {
 public:
  /// The platform must outlive it.
  RankTraffic(const Platform& platform, int rank) : platform_(platform), rank_(rank) {}

  int rank() const { return rank_; }

  void sent(Purpose purpose, int peer, std::uint64_t bytes) {
    if (peer != last_peer_) {
      last_peer_ = peer;
      sent_to_last_ = &sent_to_[peer];
    }
    *sent_to_last_ += bytes;
    if (purpose != Purpose::data) {
      counters_.control_sent_bytes += bytes;
      return;
    }
    counters_.sent_bytes += bytes;
    counters_.between_nodes_bytes += platform_.share_node(rank_, peer) ? 0 : bytes;
  }

  void received(Purpose purpose, std::uint64_t bytes) {
    counters_.received_bytes += purpose == Purpose::data ? bytes : 0;
  }

  const WireCounters& counters() const { return counters_; }

  /// By peer, all bytes sent to it.
  const std::unordered_map<int, std::uint64_t>& sent_to() const { return sent_to_; }

 private:
  const Platform& platform_;
  int rank_;
  WireCounters counters_;
  std::unordered_map<int, std::uint64_t> sent_to_;
  int last_peer_ = -1;  // Most messages go where the one before went.
  std::uint64_t* sent_to_last_ = nullptr;
};

}  // namespace shardscope
