// Messages on the simulated star: when they arrive, what they carry, how they share links.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <string>
#include <vector>

#include "tests/sim/on_cluster.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

namespace s4u = simgrid::s4u;

double now() { return s4u::Engine::get_clock(); }

// A message of that many bytes without content.
Tensor sized(std::size_t bytes) { return {nullptr, DType::bf16, bytes / 2}; }

void expect_close(double value, double expected, double relative = 1e-12) {
  EXPECT_NEAR(value, expected, relative * expected);
}

const CableSpec kLink = network_cable(1e9, 1e-3);
constexpr double kPathLatency_s = 2e-3;

// One message from rank 0 to rank 1.
double send_one(int rank, Transport& transport, std::size_t bytes) {
  if (rank == 0) {
    transport.isend(1, sized(bytes))->wait();
  } else {
    transport.recv(0, sized(bytes), Arrival::replaces);
  }
  return now();
}

// Receives from ranks 1 and 2 at the same time, one on an actor of its own; when both are there.
double receive_at_once(Transport& transport, std::size_t from_1, std::size_t from_2) {
  const s4u::ActorPtr other = s4u::Actor::create("other", s4u::this_actor::get_host(), [&] {
    transport.recv(2, sized(from_2), Arrival::replaces);
  });
  transport.recv(1, sized(from_1), Arrival::replaces);
  other->join();
  return now();
}

TEST(Transport, AnIdlePathTakesItsLatencyAndBytesOverBandwidth) {
  for (const double latency_s : {0.0, 1e-10, 5e-6, 0.1}) {
    for (const double bandwidth : {125.0, 1.25e9, 9e11}) {
      for (const std::size_t bytes : {2U, 4U, 98592U, 1'000'000'000U}) {
        SCOPED_TRACE(std::to_string(bytes) + " B at " + std::to_string(bandwidth) + " B/s and " +
                     std::to_string(latency_s) + " s per link");
        const std::vector<double> ends = on_cluster(
            star(2, network_cable(bandwidth, latency_s)),
            [&](int rank, Transport& transport) { return send_one(rank, transport, bytes); });
        const double transfer_s = static_cast<double>(bytes) / bandwidth;
        expect_close(ends[0], transfer_s);
        expect_close(ends[1], 2 * latency_s + transfer_s);
      }
    }
  }
}

TEST(Transport, BothDirectionsAtOnceTakeNoLongerThanOne) {
  const std::vector<double> ends = on_cluster(star(2, kLink), [](int rank, Transport& transport) {
    const auto sending = transport.isend(1 - rank, sized(1'000'000'000));
    transport.recv(1 - rank, sized(1'000'000'000), Arrival::replaces);
    sending->wait();
    return now();
  });
  expect_close(ends[0], 1 + kPathLatency_s);
  expect_close(ends[1], 1 + kPathLatency_s);
}

TEST(Transport, FlowsIntoOneRankShareItsLinkEqually) {
  const std::vector<double> ends = on_cluster(star(3, kLink), [](int rank, Transport& transport) {
    if (rank > 0) {
      const std::size_t bytes = rank == 1 ? 1'000'000'000 : 500'000'000;
      transport.isend(0, sized(bytes))->wait();
      return now();
    }
    return receive_at_once(transport, 1'000'000'000, 500'000'000);
  });
  expect_close(ends[2], 1.0);  // Half of the link for half of the bytes,
  expect_close(ends[1], 1.5);  // then all of it for the rest.
  expect_close(ends[0], 1.5 + kPathLatency_s);
}

TEST(Transport, ATransferBeginsWhenBothSidesAreThere) {
  for (const int late : {0, 1}) {
    const std::vector<double> ends =
        on_cluster(star(2, kLink), [&](int rank, Transport& transport) {
          if (rank == late) {
            s4u::this_actor::sleep_for(3);
          }
          return send_one(rank, transport, 1'000'000'000);
        });
    expect_close(ends[0], 4);
    expect_close(ends[1], 4 + kPathLatency_s);
  }
}

TEST(Transport, ASendIsUnderWayBeforeItIsWaitedForAndAWaitAfterItTakesNoTime) {
  const std::vector<double> ends = on_cluster(star(2, kLink), [](int rank, Transport& transport) {
    if (rank == 1) {
      transport.recv(0, sized(1000), Arrival::replaces);
      return now();
    }
    const auto sending = transport.isend(1, sized(1000));
    s4u::this_actor::sleep_for(5);
    sending->wait();
    return now();
  });
  EXPECT_EQ(ends[0], 5);
  expect_close(ends[1], 1e-6 + kPathLatency_s);
}

TEST(Transport, LatenciesOfMessagesUnderWayDoNotAddUp) {
  const std::vector<double> ends = on_cluster(star(3, kLink), [](int rank, Transport& transport) {
    if (rank > 0) {
      transport.isend(0, sized(1'000'000))->wait();
      return now();
    }
    return receive_at_once(transport, 1'000'000, 1'000'000);
  });
  expect_close(ends[0], 2e-3 + kPathLatency_s);
}

TEST(Transport, MessagesArriveInTheirOrderWithTheirContent) {
  const std::vector<double> sums = on_cluster(star(2, kLink), [](int rank, Transport& transport) {
    std::array<float, 3> first = {1, 2, 3};
    std::array<float, 2> second = {40, 50};
    if (rank == 0) {
      const auto one = transport.isend(1, Tensor::of(first.data(), 3));
      const auto two = transport.isend(1, Tensor::of(second.data(), 2));
      two->wait();
      one->wait();
      return 0.0;
    }
    std::array<float, 5> received{};
    transport.recv(0, Tensor::of(received.data(), 3), Arrival::replaces);
    transport.recv(0, Tensor::of(received.data() + 3, 2), Arrival::replaces);
    return received == std::array<float, 5>{1, 2, 3, 40, 50} ? 1.0 : 0.0;
  });
  EXPECT_EQ(sums[1], 1.0);
}

TEST(Transport, AReceiveOfAnotherSizeAborts) {
  const ChildResult child = try_on_cluster(star(2, kLink), [](int rank, Transport& transport) {
    return send_one(rank, transport, rank == 0 ? 8 : 6);
  });
  EXPECT_FALSE(child.ok);
  EXPECT_EQ(child.failure, "killed by signal 6 (Aborted)");
}

}  // namespace
}  // namespace shardscope::testing
