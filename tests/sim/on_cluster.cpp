#include "tests/sim/on_cluster.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Semaphore.hpp>
#include <simgrid/simix.hpp>
#include <string>

#include "sim/cluster/background.h"
#include "sim/cluster/engine.h"
#include "sim/cluster/messages.h"
#include "sim/cluster/network_events.h"
#include "sim/cluster/platform.h"

namespace shardscope::testing {
namespace {

namespace s4u = simgrid::s4u;

// Messages that an actor begins and waits for.
class AwaitedBatch final : public MessageBatch {
 public:
  AwaitedBatch(Messages& messages, int rank, std::span<const Outgoing> sends,
               std::span<const Incoming> receives) {
    simgrid::kernel::actor::simcall_answered([&] { messages.begin(rank, sends, receives, *this); });
  }

  void wait() { over_->acquire(); }

 private:
  void over() override { over_->release(); }

  s4u::SemaphorePtr over_ = s4u::Semaphore::create(0);
};

class SendRequest final : public Request {
 public:
  SendRequest(Messages& messages, int rank, const Outgoing& send)
      : batch_(messages, rank, {&send, 1}, {}) {}

  void wait() override { batch_.wait(); }

 private:
  AwaitedBatch batch_;
};

class MessageTransport final : public Transport {
 public:
  MessageTransport(Messages& messages, int rank, int world_size)
      : messages_(messages), rank_(rank), world_size_(world_size) {}

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }

  std::unique_ptr<Request> isend(int peer, TensorList data) override {
    return std::make_unique<SendRequest>(messages_, rank_, Outgoing{peer, data});
  }

  using Transport::recv;
  void recv(std::span<const Incoming> messages) override {
    AwaitedBatch(messages_, rank_, {}, messages).wait();
  }

 private:
  Messages& messages_;
  int rank_;
  int world_size_;
};

std::vector<double> simulate(const Cluster& cluster, const RankBody& body) {
  const std::unique_ptr<s4u::Engine> engine =
      make_engine(1, static_cast<int>(cluster.placement.size()));
  Scenario scenario;
  scenario.cluster = cluster;
  const std::unique_ptr<const Platform> platform = make_platform(scenario);
  std::deque<BackgroundTraffic> background;
  start_background(scenario.cluster.background, *platform, background);
  NetworkEvents events(platform->has_steady_links());
  Messages messages(*platform, events);
  std::vector<double> results(cluster.placement.size());
  for (int rank = 0; rank < platform->world_size(); ++rank) {
    s4u::Actor::create("rank", platform->host(rank), [&, rank] {
      MessageTransport transport(messages, rank, platform->world_size());
      results[static_cast<std::size_t>(rank)] = body(rank, transport);
    });
  }
  engine->run();
  return results;
}

}  // namespace

ChildResult try_on_cluster(const Cluster& cluster, const RankBody& body) {
  return run_in_child([&] {
    const std::vector<double> results = simulate(cluster, body);
    std::string text(results.size() * sizeof(double), '\0');
    std::memcpy(text.data(), results.data(), text.size());
    return text;
  });
}

std::vector<double> on_cluster(const Cluster& cluster, const RankBody& body) {
  const ChildResult child = try_on_cluster(cluster, body);
  EXPECT_TRUE(child.ok) << child.failure;
  std::vector<double> results(cluster.placement.size());
  EXPECT_EQ(child.output.size(), results.size() * sizeof(double));
  if (child.output.size() == results.size() * sizeof(double)) {
    std::memcpy(results.data(), child.output.data(), child.output.size());
  }
  return results;
}

}  // namespace shardscope::testing
