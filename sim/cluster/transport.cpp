#include "sim/cluster/transport.h"

#include <deque>
#include <mutex>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <string>

#include "core/check.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

// One direction between two ranks. SimGrid matches the nth put of a mailbox with the nth get, and
// copies the smaller of two sizes without a word; the sizes kept here catch that.
class Wires::Channel {
 public:
  explicit Channel(s4u::Mailbox* mailbox) : mailbox_(mailbox) {}

  s4u::Mailbox* mailbox() const { return mailbox_; }

  void sent(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_.push_back(bytes);
  }

  void received(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    SHARDSCOPE_CHECK(!sizes_.empty() && sizes_.front() == bytes,
                     "a receive names another size than was sent");
    sizes_.pop_front();
  }

 private:
  s4u::Mailbox* mailbox_;
  std::mutex mutex_;  // Actors may run on several threads; never held across a simcall.
  std::deque<std::size_t> sizes_;
};

class Wires::Sending final : public Request {
 public:
  explicit Sending(s4u::CommPtr comm) : comm_(std::move(comm)) {}
  void wait() override { comm_->wait(); }

 private:
  s4u::CommPtr comm_;
};

class Wires::Receiving final : public Request {
 public:
  Receiving(s4u::CommPtr comm, Channel& channel, std::size_t bytes, double latency_s,
            WireCounters& counters)
      : comm_(std::move(comm)),
        channel_(channel),
        bytes_(bytes),
        latency_s_(latency_s),
        counters_(counters) {}

  void wait() override {
    comm_->wait();
    s4u::this_actor::sleep_until(comm_->get_finish_time() + latency_s_);
    channel_.received(bytes_);
    counters_.received_bytes += bytes_;
    ++counters_.received_messages;
  }

 private:
  s4u::CommPtr comm_;
  Channel& channel_;
  std::size_t bytes_;
  double latency_s_;
  WireCounters& counters_;
};

class Wires::End final : public Transport {
 public:
  End(Wires& wires, int rank, WireCounters& counters)
      : wires_(wires), rank_(rank), counters_(counters) {}

  int rank() const override { return rank_; }
  int world_size() const override { return static_cast<int>(wires_.platform_.hosts.size()); }

  std::unique_ptr<Request> isend(int peer, Tensor data) override {
    Channel& channel = wires_.channel(rank_, peer);
    channel.sent(data.bytes());
    counters_.sent_bytes += data.bytes();
    s4u::CommPtr comm = channel.mailbox()->put_init();
    comm->set_payload_size(data.bytes())
        ->set_src_data(address(data), payload_bytes(data))
        ->set_copy_data_callback(s4u::Comm::copy_buffer_callback);
    comm->start();
    return std::make_unique<Sending>(std::move(comm));
  }

  std::unique_ptr<Request> irecv(int peer, Tensor data) override {
    Channel& channel = wires_.channel(peer, rank_);
    s4u::CommPtr comm = channel.mailbox()->get_init();
    comm->set_dst_data(static_cast<void**>(address(data)), payload_bytes(data))
        ->set_copy_data_callback(s4u::Comm::copy_buffer_callback);
    comm->start();
    return std::make_unique<Receiving>(std::move(comm), channel, data.bytes(),
                                       wires_.platform_.path_latency_s, counters_);
  }

 private:
  // A shape-only message has a size that takes time and no bytes to copy; SimGrid wants an address
  // all the same.
  static std::size_t payload_bytes(Tensor data) { return data.is_real() ? data.bytes() : 0; }
  static void* address(Tensor data) {
    static std::byte none{};
    return data.is_real() ? data.data : &none;
  }

  Wires& wires_;
  int rank_;
  WireCounters& counters_;
};

Wires::Wires(const Platform& platform)
    : platform_(platform), channels_(platform.hosts.size() * platform.hosts.size()) {}

Wires::~Wires() = default;

std::unique_ptr<Transport> Wires::transport(int rank, WireCounters& counters) {
  return std::make_unique<End>(*this, rank, counters);
}

Wires::Channel& Wires::channel(int from, int to) {
  std::unique_ptr<Channel>& slot =
      channels_[static_cast<std::size_t>(from) * platform_.hosts.size() +
                static_cast<std::size_t>(to)];
  {
    const std::lock_guard lock(mutex_);
    if (slot != nullptr) {
      return *slot;
    }
  }
  // A simcall: the peer may run meanwhile, and make the channel first.
  s4u::Mailbox* mailbox = s4u::Mailbox::by_name(std::to_string(from) + "->" + std::to_string(to));
  const std::lock_guard lock(mutex_);
  if (slot == nullptr) {
    slot = std::make_unique<Channel>(mailbox);
  }
  return *slot;
}

}  // namespace shardscope
