// Messages between ranks on SimGrid. The nth that is sent from one rank to another meets the nth
// that the other receives from it, and both begin when the later of them does. Its payload is taken
// when the last byte leaves, when its sender may go on; the receiver has it one path latency later.
// Of several messages received at once each pays its own latency from when it left, so that
// latencies do not add up.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/collectives/transport.h"
#include "sim/cluster/network_events.h"
#include "sim/cluster/platform.h"

namespace shardscope {

class Messages;

/// What a rank sends and receives at once. What is received is copied or added in the order of the
/// list, whatever arrives first.
class MessageBatch {
 public:
  struct Sent {
    int peer;
    std::size_t bytes;
    double left_s;
  };
  struct Received {
    int peer;
    std::size_t bytes;
    double left_s;
    double arrived_s;
  };

  MessageBatch();
  MessageBatch(const MessageBatch&) = delete;
  MessageBatch& operator=(const MessageBatch&) = delete;
  virtual ~MessageBatch();

  /// When it began, and what became of its messages, by index; to be asked for once it is over.
  double begun_s() const { return begun_s_; }
  std::size_t sends() const;
  std::size_t receives() const;
  std::size_t received_bytes() const { return received_bytes_; }
  Sent sent(std::size_t index) const;
  Received received(std::size_t index) const;

 private:
  friend class Messages;
  class Sending;
  class Receiving;

  /// All have left and arrived. In maestro's context; the batch may begin anew.
  virtual void over() = 0;

  void deliver_in_turn();
  void end_one();

  double begun_s_ = 0;
  std::size_t received_bytes_ = 0;
  std::vector<Sending> sends_;
  std::vector<Receiving> receives_;
  std::size_t turn_ = 0;     // Of receives_, which is delivered next.
  std::size_t pending_ = 0;  // Messages that are not over.
};

class Messages {
 public:
  /// Both must outlive it.
  Messages(const Platform& platform, NetworkEvents& events);
  ~Messages();

  /// Begins a batch of at least one message on a rank, in maestro's context. The tensors of what is
  /// sent must stay unchanged until it has left; batch, tensors and their lists valid until it is
  /// over.
  void begin(int rank, std::span<const Outgoing> sends, std::span<const Incoming> receives,
             MessageBatch& batch);

 private:
  friend class MessageBatch;
  struct Channel;

  // The channel last used. Most messages go where the one before went, and come from where it came.
  class LastChannel {
   public:
    template <typename Find>
    Channel& channel(int peer, const Find& find) {
      if (peer != peer_) {
        peer_ = peer;
        channel_ = find();
      }
      return *channel_;
    }

   private:
    int peer_ = -1;
    Channel* channel_ = nullptr;
  };
  struct Recent {
    LastChannel to;
    LastChannel from;
  };

  Channel& channel(int from, int to);
  void meet(Channel& channel);

  const Platform& platform_;
  NetworkEvents& events_;
  std::vector<std::unordered_map<int, Channel>> channels_;  // By receiver, by sender as it is used.
  std::vector<Recent> recent_;                              // By rank.
};

}  // namespace shardscope
