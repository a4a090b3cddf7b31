#include "core/device/local_cluster.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"

namespace shardscope {
namespace {

/// Ends the waits of ranks whose peer has thrown; never leaves this file.
struct ClusterStopped {};

// What was sent to one rank and not yet received. A lock of its own, so that a message wakes only
// the rank it is for.
struct Mailbox {
  explicit Mailbox(int world_size) : from(static_cast<std::size_t>(world_size)) {}

  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::deque<MessageCopy>> from;
  bool stopped = false;
};

// The mailboxes of all ranks.
class Switchboard {
 public:
  explicit Switchboard(int world_size) {
    for (int rank = 0; rank < world_size; ++rank) {
      mailboxes_.push_back(std::make_unique<Mailbox>(world_size));
    }
  }

  int world_size() const { return static_cast<int>(mailboxes_.size()); }

  void send(int from, int to, MessageCopy message) {
    Mailbox& mailbox = of(to);
    {
      const std::lock_guard lock(mailbox.mutex);
      mailbox.from[static_cast<std::size_t>(from)].push_back(std::move(message));
    }
    mailbox.arrived.notify_one();
  }

  MessageCopy receive(int from, int to) {
    Mailbox& mailbox = of(to);
    std::deque<MessageCopy>& queue = mailbox.from[static_cast<std::size_t>(from)];
    std::unique_lock lock(mailbox.mutex);
    mailbox.arrived.wait(lock, [&] { return mailbox.stopped || !queue.empty(); });
    if (queue.empty()) {
      throw ClusterStopped{};
    }
    MessageCopy message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  void stop() {
    for (const std::unique_ptr<Mailbox>& mailbox : mailboxes_) {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->stopped = true;
      mailbox->arrived.notify_one();
    }
  }

 private:
  Mailbox& of(int rank) { return *mailboxes_[static_cast<std::size_t>(rank)]; }

  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
};

class SentRequest final : public Request {
 public:
  void wait() override {}
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(Switchboard& board, int rank) : board_(board), rank_(rank) {}

  int rank() const override { return rank_; }
  int world_size() const override { return board_.world_size(); }

  std::unique_ptr<Request> isend(int peer, TensorList data) override {
    board_.send(rank_, peer, MessageCopy(data));
    return std::make_unique<SentRequest>();
  }

  using Transport::recv;
  void recv(std::span<const Incoming> messages) override {
    for (const Incoming& incoming : messages) {
      const MessageCopy message = board_.receive(incoming.peer, rank_);
      deliver(message.tensors(), incoming.data, incoming.arrival);
    }
  }

 private:
  Switchboard& board_;
  int rank_;
};

class LocalWork final : public Work {
 public:
  explicit LocalWork(std::unique_ptr<Collective> done) : done_(std::move(done)) {}
  void wait() override { done_.reset(); }

 private:
  std::unique_ptr<Collective> done_;
};

class LocalDevice final : public Device {
 public:
  LocalDevice(Transport& transport, std::uint64_t capacity_bytes)
      : transport_(transport), memory_(capacity_bytes) {}

  MemoryLedger& memory() override { return memory_; }
  void compute(std::string_view /*kernel*/, Cost /*cost*/) override {}
  void on_host(std::string_view /*kernel*/, HostWork /*work*/) override {}

  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override {
    collective->run(transport_);
    return std::make_unique<LocalWork>(std::move(collective));
  }

 private:
  Transport& transport_;
  MemoryLedger memory_;
};

void run_rank(Switchboard& board, int rank, std::uint64_t capacity_bytes,
              const std::function<void(LocalRank)>& body, std::exception_ptr& error) {
  LocalTransport transport(board, rank);
  LocalDevice device(transport, capacity_bytes);
  try {
    body({transport, device});
  } catch (const ClusterStopped&) {
    // Another rank threw, and its exception is the one to report.
  } catch (...) {
    error = std::current_exception();
    board.stop();
  }
}

}  // namespace

void run_local_cluster(int world_size, const std::function<void(LocalRank)>& body,
                       const std::vector<std::uint64_t>& capacity_bytes) {
  SHARDSCOPE_CHECK(
      capacity_bytes.empty() || capacity_bytes.size() == static_cast<std::size_t>(world_size),
      "a capacity for each rank");
  Switchboard board(world_size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world_size));
  {
    std::vector<std::jthread> threads;
    threads.reserve(errors.size());
    for (int rank = 0; rank < world_size; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      const std::uint64_t capacity =
          capacity_bytes.empty() ? MemoryLedger::kUnlimited : capacity_bytes[i];
      threads.emplace_back(run_rank, std::ref(board), rank, capacity, std::cref(body),
                           std::ref(errors[i]));
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace shardscope
