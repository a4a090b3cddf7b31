#include "sim/cluster/simgrid_transport.h"

#include <atomic>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <string>

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
                       int peer, Tensor data) {
  TransferOperation& operation = add(recorded, kind, begin_s);
  operation.set_peer(peer);
  operation.set_bytes(data.bytes());
  return operation;
}

}  // namespace

// What SimGrid carries is the address of this. The receiver takes the data when the last byte has
// left, and tells the sender if that waits; most senders need not, which saves a call into SimGrid.
class SimGridTransport::Sending final : public Request {
 public:
  /// `done` must not be used by another request that is waited for at the same time. `recorded` may
  /// be null.
  Sending(Tensor data, s4u::Semaphore& done, RecordedCollective* recorded)
      : data_(data), done_(done), recorded_(recorded) {}

  void wait() override {
    const double begin_s = now();
    State expected = State::under_way;
    if (state_.compare_exchange_strong(expected, State::waited_for)) {
      done_.acquire();
    }
    if (recorded_ != nullptr) {
      add(*recorded_, TransferOperation::SENT, begin_s);
    }
  }

  /// On the receiver's actor.
  void arrive(Tensor destination, Arrival arrival) {
    SHARDSCOPE_CHECK(data_.bytes() == destination.bytes(),
                     "a receive names another size than was sent");
    deliver(data_, destination, arrival);
    s4u::Semaphore& done = done_;  // This may be gone once it is seen to be done.
    if (state_.exchange(State::done) == State::waited_for) {
      done.release();
    }
  }

 private:
  enum class State { under_way, waited_for, done };

  Tensor data_;
  s4u::Semaphore& done_;
  RecordedCollective* recorded_;
  std::atomic<State> state_ = State::under_way;  // Both ranks may run at once.
};

std::unique_ptr<Request> SimGridTransport::isend(int peer, Tensor data) {
  auto sending = std::make_unique<Sending>(data, *sent_, recorded_);
  if (recorded_ != nullptr) {
    add(*recorded_, TransferOperation::SEND, now(), peer, data);
  }
  (purpose_ == Purpose::data ? counters_.sent_bytes : counters_.control_sent_bytes) += data.bytes();
  sent_to_[peer] += data.bytes();
  mailbox(outgoing_, peer, rank_, peer).put_init(sending.get(), data.bytes())->detach();
  return sending;
}

void SimGridTransport::recv(int peer, Tensor data, Arrival arrival) {
  const double begin_s = now();
  mailbox(incoming_, peer, peer, rank_).get<Sending>()->arrive(data, arrival);
  const double left_s = now();
  s4u::this_actor::sleep_for(latency_s(peer));
  if (recorded_ != nullptr) {
    add(*recorded_, TransferOperation::RECEIVE, begin_s, peer, data).set_left_s(left_s);
  }
  counters_.received_bytes += purpose_ == Purpose::data ? data.bytes() : 0;
  ++counters_.received_messages;
}

double SimGridTransport::latency_s(int peer) {
  const auto known = latencies_s_.find(peer);
  return known != latencies_s_.end()
             ? known->second
             : latencies_s_.emplace(peer, platform_.path(peer, rank_).latency_s).first->second;
}

}  // namespace shardscope
