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

void receive(Transport& transport, int peer, Tensor data) {
  transport.recv(peer, {&data, 1}, Arrival::replaces);
}

void expect_close(double value, double expected, double relative = 1e-12) {
  EXPECT_NEAR(value, expected, relative * expected);
}

const CableSpec kLink = network_cable(1e9, 1e-3);
constexpr double kPathLatency_s = 2e-3;

// One message from rank 0 to rank 1.
double send_one(int rank, Transport& transport, std::size_t bytes) {
  const Tensor data = sized(bytes);
  if (rank == 0) {
    transport.isend(1, {&data, 1})->wait();
  } else {
    transport.recv(0, {&data, 1}, Arrival::replaces);
  }
  return now();
}

double send_to_0(Transport& transport, std::size_t bytes) {
  const Tensor data = sized(bytes);
  transport.isend(0, {&data, 1})->wait();
  return now();
}

// Receives from ranks 1, 2, .. at the same time; when all are there.
double receive_at_once(Transport& transport, const std::vector<std::size_t>& bytes_from) {
  std::vector<Tensor> data;
  for (const std::size_t bytes : bytes_from) {
    data.push_back(sized(bytes));
  }
  std::vector<Incoming> messages;
  for (std::size_t i = 0; i < data.size(); ++i) {
    messages.push_back({static_cast<int>(i) + 1, {&data[i], 1}, Arrival::replaces});
  }
  transport.recv(messages);
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
    const Tensor data = sized(1'000'000'000);
    const auto sending = transport.isend(1 - rank, {&data, 1});
    receive(transport, 1 - rank, data);
    sending->wait();
    return now();
  });
  expect_close(ends[0], 1 + kPathLatency_s);
  expect_close(ends[1], 1 + kPathLatency_s);
}

TEST(Transport, FlowsIntoOneRankShareItsLinkEqually) {
  const std::vector<double> ends = on_cluster(star(3, kLink), [](int rank, Transport& transport) {
    if (rank > 0) {
      return send_to_0(transport, rank == 1 ? 1'000'000'000 : 500'000'000);
    }
    return receive_at_once(transport, {1'000'000'000, 500'000'000});
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
      receive(transport, 0, sized(1000));
      return now();
    }
    const Tensor data = sized(1000);
    const auto sending = transport.isend(1, {&data, 1});
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
      return send_to_0(transport, 1'000'000);
    }
    return receive_at_once(transport, {1'000'000, 1'000'000});
  });
  expect_close(ends[0], 2e-3 + kPathLatency_s);
}

// The second of three leaves last; the others' senders do not wait for it, and its latency is all
// that is left to pay.
TEST(Transport, OfReceivesAtOnceEachSenderGoesOnWhenItsOwnMessageHasLeft) {
  const std::vector<double> ends = on_cluster(star(4, kLink), [](int rank, Transport& transport) {
    if (rank > 0) {
      return send_to_0(transport, rank == 2 ? 3'000'000 : 1'000'000);
    }
    return receive_at_once(transport, {1'000'000, 3'000'000, 1'000'000});
  });
  expect_close(ends[1], 3e-3);
  expect_close(ends[3], 3e-3);
  expect_close(ends[2], 5e-3);
  expect_close(ends[0], 5e-3 + kPathLatency_s);
}

// Rank 3's message comes first; what it holds must be that of when it was sent, and it is added
// last: 1e8 - 1e8 + 1 is 1 in this order only.
TEST(Transport, ReceivesAtOnceAreAddedInTheirOrder) {
  const std::vector<double> sums = on_cluster(star(4, kLink), [](int rank, Transport& transport) {
    std::array<float, 2> values = {0, 0};
    const std::array<Tensor, 2> data = {Tensor::of(values.data(), 1),
                                        Tensor::of(values.data() + 1, 1)};
    if (rank > 0) {
      values.fill(rank == 1 ? 1e8F : rank == 2 ? -1e8F : 1.0F);
      s4u::this_actor::sleep_for(3.0 - rank);
      transport.isend(0, data)->wait();
      values.fill(7);
      return 0.0;
    }
    std::vector<Incoming> messages;
    for (const int peer : {1, 2, 3}) {
      messages.push_back({peer, data, Arrival::is_added});
    }
    transport.recv(messages);
    return values[0] == 1 && values[1] == 1 ? 1.0 : 0.0;
  });
  EXPECT_EQ(sums[0], 1.0);
}

TEST(Transport, MessagesArriveInTheirOrderWithTheirContent) {
  const std::vector<double> sums = on_cluster(star(2, kLink), [](int rank, Transport& transport) {
    std::array<float, 3> first = {1, 2, 3};
    std::array<float, 2> second = {40, 50};
    if (rank == 0) {
      const std::array<Tensor, 2> data = {Tensor::of(first.data(), 3),
                                          Tensor::of(second.data(), 2)};
      const auto one = transport.isend(1, {data.data(), 1});
      const auto two = transport.isend(1, {data.data() + 1, 1});
      two->wait();
      one->wait();
      return 0.0;
    }
    std::array<float, 5> received{};
    receive(transport, 0, Tensor::of(received.data(), 3));
    receive(transport, 0, Tensor::of(received.data() + 3, 2));
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
