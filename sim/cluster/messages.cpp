#include "sim/cluster/messages.h"

#include <simgrid/s4u/Engine.hpp>

#include "core/check.h"

namespace shardscope {

namespace {

double now() { return simgrid::s4u::Engine::get_clock(); }

// First in, first out, linked through the elements' `next`.
template <typename Element>
class Queue {
 public:
  bool empty() const { return first_ == nullptr; }

  void push(Element& element) {
    (first_ == nullptr ? first_ : last_->next) = &element;
    last_ = &element;
  }

  Element& pop() {
    Element& element = *first_;
    first_ = element.next;
    return element;
  }

 private:
  Element* first_ = nullptr;
  Element* last_ = nullptr;
};

}  // namespace

class MessageBatch::Sending {
 public:
  Sending(MessageBatch& owner, const Outgoing& send)
      : batch(owner), message(send), bytes(bytes_of(send.data)) {}

  MessageBatch& batch;
  Outgoing message;
  std::size_t bytes;
  double left_s = 0;
  Sending* next = nullptr;
};

class MessageBatch::Receiving final : public NetworkEvents::Transfer, public NetworkEvents::Alarm {
 public:
  Receiving(MessageBatch& owner, const Incoming& receive)
      : batch(owner), message(receive), bytes(bytes_of(receive.data)) {}

  bool has_left() const { return has_left_; }

  void begin(NetworkEvents& events, double latency_s, Sending& sending) {
    events_ = &events;
    latency_s_ = latency_s;
    sending_ = &sending;
  }

  void left() override {
    has_left_ = true;
    left_s = now();
    sending_->left_s = left_s;
    batch.deliver_in_turn();
  }

  // Its sender goes on, delivered or not: what leaves before its turn is copied.
  void gone() override {
    if (!delivered_) {
      copy_ = std::make_unique<MessageCopy>(sending_->message.data);
    }
    events_->at(arrived_s(), *this);
    sending_->batch.end_one();
  }

  void rings() override { batch.end_one(); }

  void deliver() {
    shardscope::deliver(copy_ != nullptr ? copy_->tensors() : sending_->message.data, message.data,
                        message.arrival);
    delivered_ = true;
  }

  double arrived_s() const { return left_s + latency_s_; }

  MessageBatch& batch;
  Incoming message;
  std::size_t bytes;
  double left_s = 0;
  Receiving* next = nullptr;

 private:
  NetworkEvents* events_ = nullptr;
  double latency_s_ = 0;
  Sending* sending_ = nullptr;
  bool has_left_ = false;
  bool delivered_ = false;
  std::unique_ptr<MessageCopy> copy_;
};

// One direction between two ranks. Of the queues one is empty.
struct Messages::Channel {
  simgrid::s4u::Host& from;
  simgrid::s4u::Host& to;
  double latency_s;
  Queue<MessageBatch::Sending> sends;
  Queue<MessageBatch::Receiving> receives;
};

MessageBatch::MessageBatch() = default;
MessageBatch::~MessageBatch() = default;

std::size_t MessageBatch::sends() const { return sends_.size(); }
std::size_t MessageBatch::receives() const { return receives_.size(); }

MessageBatch::Sent MessageBatch::sent(std::size_t index) const {
  const Sending& sending = sends_[index];
  return {sending.message.peer, sending.bytes, sending.left_s};
}

MessageBatch::Received MessageBatch::received(std::size_t index) const {
  const Receiving& receiving = receives_[index];
  return {receiving.message.peer, receiving.bytes, receiving.left_s, receiving.arrived_s()};
}

void MessageBatch::deliver_in_turn() {
  for (; turn_ < receives_.size() && receives_[turn_].has_left(); ++turn_) {
    receives_[turn_].deliver();
  }
}

void MessageBatch::end_one() {
  if (--pending_ == 0) {
    over();
  }
}

Messages::Messages(const Platform& platform, NetworkEvents& events)
    : platform_(platform),
      events_(events),
      channels_(static_cast<std::size_t>(platform.world_size())),
      recent_(channels_.size()) {}

Messages::~Messages() = default;

void Messages::begin(int rank, std::span<const Outgoing> sends, std::span<const Incoming> receives,
                     MessageBatch& batch) {
  SHARDSCOPE_CHECK(batch.pending_ == 0 && !(sends.empty() && receives.empty()),
                   "a batch that is under way or has no message");
  batch.begun_s_ = now();
  batch.received_bytes_ = 0;
  batch.turn_ = 0;
  batch.pending_ = sends.size() + receives.size();
  batch.sends_.clear();
  batch.receives_.clear();
  for (const Outgoing& send : sends) {
    batch.sends_.emplace_back(batch, send);
  }
  for (const Incoming& receive : receives) {
    batch.receives_.emplace_back(batch, receive);
    batch.received_bytes_ += batch.receives_.back().bytes;
  }
  Recent& recent = recent_[static_cast<std::size_t>(rank)];
  // Now they stay where they are.
  for (MessageBatch::Sending& sending : batch.sends_) {
    const int peer = sending.message.peer;
    Channel& to = recent.to.channel(peer, [&] { return &channel(rank, peer); });
    to.sends.push(sending);
    meet(to);
  }
  for (MessageBatch::Receiving& receiving : batch.receives_) {
    const int peer = receiving.message.peer;
    Channel& from = recent.from.channel(peer, [&] { return &channel(peer, rank); });
    from.receives.push(receiving);
    meet(from);
  }
}

Messages::Channel& Messages::channel(int from, int to) {
  auto& senders = channels_[static_cast<std::size_t>(to)];
  if (const auto known = senders.find(from); known != senders.end()) {
    return known->second;
  }
  return senders
      .emplace(from, Channel{*platform_.host(from),
                             *platform_.host(to),
                             platform_.path(from, to).latency_s,
                             {},
                             {}})
      .first->second;
}

void Messages::meet(Channel& channel) {
  if (channel.sends.empty() || channel.receives.empty()) {
    return;
  }
  MessageBatch::Sending& sending = channel.sends.pop();
  MessageBatch::Receiving& receiving = channel.receives.pop();
  receiving.begin(events_, channel.latency_s, sending);
  events_.transfer(channel.from, channel.to, sending.bytes, receiving);
}

}  // namespace shardscope
