// Schedules seen as flows, and collectives done without a network.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/collectives/collective.h"
#include "core/data/generator.h"
#include "core/device/local_cluster.h"
#include "tests/core/support/plans.h"

namespace shardscope::testing {
namespace {

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::reduce_scatter,
                                     Operation::all_gather, Operation::broadcast};

template <typename F>
void for_each_case(const F& f) {
  for (int world = 1; world <= 12; ++world) {
    for (const NamedPlan& plan : plans_of(world)) {
      for (const Operation operation : kOperations) {
        const auto n = static_cast<std::size_t>(world);
        for (const std::size_t count : {std::size_t{1}, n - 1, n, 3 * n, 3 * n + 1, 7 * n - 1}) {
          SCOPED_TRACE(plan.name + ", " + std::string(name(operation)) + " of " +
                       std::to_string(count) + " over " + std::to_string(world));
          f(plan, operation, world, count);
        }
      }
    }
  }
}

using Sent = std::map<int, std::uint64_t>;  // By peer.

TEST(Flows, CarryWhatTheMessagesDo) {
  for_each_case([](const NamedPlan& plan, Operation operation, int world, std::size_t count) {
    const auto schedule =
        make_schedule(operation, plan.plan, world, Chunking::even(count, world), world / 2);
    for (int rank = 0; rank < world; ++rank) {
      Sent messages;
      for (int i = 0; i < schedule->rounds(); ++i) {
        const Round round = schedule->round(rank, i);
        for (const Transfer& send : round.sends()) {
          messages[send.peer] += round.elements(send);
        }
      }
      Sent flows;
      std::vector<Flow> stage;
      int rounds = 0;
      for (int i = 0; i < schedule->stages(); ++i) {
        schedule->stage(rank, i, stage);
        int longest = 0;
        for (const Flow& flow : stage) {
          EXPECT_GT(flow.elements, 0U);
          EXPECT_LE(flow.elements, flow.carried);
          flows[flow.peer] += flow.elements;
          longest = std::max(longest, flow.rounds);
        }
        rounds += longest;
      }
      if (schedule->stages() > 0) {
        EXPECT_EQ(flows, messages) << "rank " << rank;
      }
      EXPECT_LE(rounds, schedule->rounds());
    }
  });
}

// In a ring whatever the counts, as many rounds as the largest chunk takes to go around.
TEST(Flows, OfARingAreOneStage) {
  const auto plan = simple_plan(Algorithm::ring, 5);
  const auto schedule = make_schedule(Operation::all_reduce, plan, 5, Chunking::even(22, 5));
  ASSERT_EQ(schedule->stages(), 1);
  std::vector<Flow> flows;
  schedule->stage(4, 0, flows);  // Chunks of 5, 5, 5, 5 and 2: it sends 4 x 5 and 3 x 5 + 2.
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].peer, 0);
  EXPECT_EQ(flows[0].elements, 20U + 17U);
  EXPECT_EQ(flows[0].carried, 8U * 5U);
  EXPECT_EQ(flows[0].rounds, 8);
}

float value_of(int rank, std::size_t element) {
  return uniform(static_cast<std::uint64_t>(rank), element) *
         static_cast<float>(1 + splitmix64(element, 3) % 4096);
}

std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = value_of(rank, i);
  }
  return values;
}

// Sums that depend on the order of their addends are the same to the bit.
TEST(RunTogether, GivesTheBitsThatMessagesGive) {
  for_each_case([](const NamedPlan& plan, Operation operation, int world, std::size_t count) {
    if (count == 0) {
      return;
    }
    const RankGroup group{.first = 0, .stride = 1, .size = world};
    const auto make = [&](int rank, std::vector<float>& values, MemoryLedger& ledger) {
      const ChunkedTensor data =
          ChunkedTensor::even(Tensor::of(values.data(), values.size()), world);
      return std::make_unique<Collective>(
          make_schedule(operation, plan.plan, world, data.chunking(), world / 2), data, group, rank,
          Purpose::data, std::nullopt, ledger, Storage::real);
    };
    std::vector<std::vector<float>> messages(static_cast<std::size_t>(world));
    run_local_cluster(world, [&](LocalRank local) {
      const int rank = local.transport.rank();
      std::vector<float>& values = messages[static_cast<std::size_t>(rank)];
      values = values_of(rank, count);
      MemoryLedger ledger;
      make(rank, values, ledger)->run(local.transport);
    });
    std::vector<std::vector<float>> together;
    std::vector<std::unique_ptr<Collective>> collectives;
    std::vector<Collective*> ranks;
    MemoryLedger ledger;
    for (int rank = 0; rank < world; ++rank) {
      together.push_back(values_of(rank, count));
    }
    for (int rank = 0; rank < world; ++rank) {
      collectives.push_back(make(rank, together[static_cast<std::size_t>(rank)], ledger));
      ranks.push_back(collectives.back().get());
    }
    Collective::run_together(ranks);
    for (std::size_t rank = 0; rank < together.size(); ++rank) {
      EXPECT_EQ(std::memcmp(together[rank].data(), messages[rank].data(), count * sizeof(float)), 0)
          << "rank " << rank;
    }
  });
}

}  // namespace
}  // namespace shardscope::testing
