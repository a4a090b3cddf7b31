#include "sim/cluster/simgrid_transport.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <string>
#include <vector>

#include "core/check.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

// One direction between two ranks: SimGrid matches the nth put of a mailbox with the nth get.
s4u::Mailbox& mailbox(std::unordered_map<int, s4u::Mailbox*>& known, int peer, int from, int to) {
  s4u::Mailbox*& found = known[peer];
  if (found == nullptr) {
    found = s4u::Mailbox::by_name(std::to_string(from) + "->" + std::to_string(to));
  }
  return *found;
}

double now() { return s4u::Engine::get_clock(); }

TransferOperation& add(RecordedCollective& recorded, TransferOperation::Kind kind, double begin_s) {
  TransferOperation& operation = *recorded.add_transfers();
  operation.set_kind(kind);
  operation.set_begin_s(begin_s);
  operation.set_end_s(now());
  return operation;
}

TransferOperation& add(RecordedCollective& recorded, TransferOperation::Kind kind, double begin_s,
                       int peer, TensorList data) {
  TransferOperation& operation = add(recorded, kind, begin_s);
  operation.set_peer(peer);
  operation.set_bytes(bytes_of(data));
  return operation;
}

}  // namespace

// What SimGrid carries is the address of this. The receiver takes the data when the last byte has
// left, and tells the sender if that waits; most senders need not, which saves a call into SimGrid.
class SimGridTransport::Sending final : public Request {
 public:
  /// `done` must not be used by another request that is waited for at the same time. `recorded` may
  /// be null; its last operation is the send.
  Sending(TensorList data, s4u::Semaphore& done, RecordedCollective* recorded)
      : data_(data),
        done_(done),
        recorded_(recorded),
        send_(recorded != nullptr ? recorded->transfers_size() - 1 : 0) {}

  void wait() override {
    const double begin_s = now();
    State expected = State::under_way;
    if (state_.compare_exchange_strong(expected, State::waited_for)) {
      done_.acquire();
    }
    if (recorded_ != nullptr) {
      add(*recorded_, TransferOperation::SENT, begin_s).set_send(send_);
    }
  }

  /// On the receiver's actor, once.
  void arrive(TensorList destination, Arrival arrival) {
    deliver(data_, destination, arrival);
    release();
  }

  /// The same, before it is its turn.
  MessageCopy take() {
    MessageCopy copy(data_);
    release();
    return copy;
  }

 private:
  enum class State { under_way, waited_for, done };

  void release() {
    s4u::Semaphore& done = done_;  // This may be gone once it is seen to be done.
    if (state_.exchange(State::done) == State::waited_for) {
      done.release();
    }
  }

  TensorList data_;
  s4u::Semaphore& done_;
  RecordedCollective* recorded_;
  int send_;                                     // Index of the operation.
  std::atomic<State> state_ = State::under_way;  // Both ranks may run at once.
};

// One of several messages that are received at once.
class SimGridTransport::Receiving {
 public:
  Receiving(const Incoming& message, s4u::Mailbox& from)
      : message_(message), communication_(from.get_async<Sending>(&sending_)) {}

  const Incoming& message() const { return message_; }
  const s4u::CommPtr& communication() const { return communication_; }
  double left_s() const { return left_s_; }

  /// When its last byte leaves; `is_its_turn` if it may be delivered.
  void leave(bool is_its_turn) {
    left_s_ = now();
    if (is_its_turn) {
      sending_->arrive(message_.data, message_.arrival);
    } else {
      copy_.emplace(sending_->take());
    }
  }

  /// Of one that left before its turn.
  bool has_left() const { return copy_.has_value(); }
  void deliver_copy() { deliver(copy_->tensors(), message_.data, message_.arrival); }

 private:
  const Incoming& message_;
  Sending* sending_ = nullptr;
  s4u::CommPtr communication_;  // Writes to sending_.
  double left_s_ = 0;
  std::optional<MessageCopy> copy_;
};

std::unique_ptr<Request> SimGridTransport::isend(int peer, TensorList data) {
  if (recorded_ != nullptr) {
    add(*recorded_, TransferOperation::SEND, now(), peer, data);
  }
  auto sending = std::make_unique<Sending>(data, *sent_, recorded_);
  const std::size_t bytes = bytes_of(data);
  count_sent(purpose_, peer, bytes);
  mailbox(outgoing_, peer, rank_, peer).put_init(sending.get(), bytes)->detach();
  return sending;
}

void SimGridTransport::recv(std::span<const Incoming> messages) {
  if (messages.size() == 1) {
    receive(messages.front());
  } else {
    receive_at_once(messages);
  }
}

void SimGridTransport::receive(const Incoming& message) {
  const double begin_s = now();
  const int peer = message.peer;
  mailbox(incoming_, peer, peer, rank_).get<Sending>()->arrive(message.data, message.arrival);
  const double left_s = now();
  s4u::this_actor::sleep_for(latency_s(peer));
  if (recorded_ != nullptr) {
    add(*recorded_, TransferOperation::RECEIVE, begin_s, peer, message.data).set_left_s(left_s);
  }
  count_received(purpose_, bytes_of(message.data));
}

// A sender goes on when its message has left, delivered or not: what leaves before its turn is
// copied.
void SimGridTransport::receive_at_once(std::span<const Incoming> messages) {
  const double begin_s = now();
  std::deque<Receiving> all;  // They stay where they are.
  std::vector<std::size_t> waiting;
  std::vector<s4u::CommPtr> communications;  // Of those.
  for (const Incoming& message : messages) {
    waiting.push_back(all.size());
    all.emplace_back(message, mailbox(incoming_, message.peer, message.peer, rank_));
    communications.push_back(all.back().communication());
  }
  std::size_t turn = 0;
  const auto leave = [&](std::ptrdiff_t i) {
    const std::size_t index = waiting[static_cast<std::size_t>(i)];
    all[index].leave(index == turn);
    turn += index == turn ? 1 : 0;
    for (; turn < all.size() && all[turn].has_left(); ++turn) {
      all[turn].deliver_copy();
    }
    waiting.erase(waiting.begin() + i);
    communications.erase(communications.begin() + i);
  };
  while (!waiting.empty()) {
    const std::ptrdiff_t left = s4u::Comm::wait_any(communications);
    // Those whose turn is before it and that left with it need not be copied, nor it.
    std::ptrdiff_t before = left;
    while (before > 0 && communications.front()->test()) {
      leave(0);
      --before;
    }
    leave(before);
  }
  double end_s = now();
  for (const Receiving& receiving : all) {
    end_s = std::max(end_s, receiving.left_s() + latency_s(receiving.message().peer));
  }
  s4u::this_actor::sleep_until(end_s);
  for (const Receiving& receiving : all) {
    const Incoming& message = receiving.message();
    if (recorded_ != nullptr) {
      TransferOperation& operation =
          add(*recorded_, TransferOperation::RECEIVE, begin_s, message.peer, message.data);
      operation.set_left_s(receiving.left_s());
      operation.set_end_s(receiving.left_s() + latency_s(message.peer));
      operation.set_at_once(&receiving != &all.front());
    }
    count_received(purpose_, bytes_of(message.data));
  }
}

void SimGridTransport::count_sent(Purpose purpose, int peer, std::uint64_t bytes) {
  (purpose == Purpose::data ? counters_.sent_bytes : counters_.control_sent_bytes) += bytes;
  if (purpose == Purpose::data && !platform_.share_node(rank_, peer)) {
    counters_.between_nodes_bytes += bytes;
  }
  sent_to_[peer] += bytes;
}

void SimGridTransport::count_received(Purpose purpose, std::uint64_t bytes) {
  counters_.received_bytes += purpose == Purpose::data ? bytes : 0;
}

double SimGridTransport::latency_s(int peer) {
  const auto known = latencies_s_.find(peer);
  return known != latencies_s_.end()
             ? known->second
             : latencies_s_.emplace(peer, platform_.path(peer, rank_).latency_s).first->second;
}

}  // namespace shardscope
