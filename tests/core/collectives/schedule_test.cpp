// Schedules as data: what they promise can be checked without running one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/collectives/ring.h"

namespace shardscope::testing {
namespace {

constexpr int kMaxWorld = 9;
constexpr std::size_t kMaxCount = 20;

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::reduce_scatter,
                                     Operation::all_gather, Operation::broadcast,
                                     Operation::barrier};

// Calls f(schedule, root) for every operation, world size, count, chunking and root that is small.
// Besides the even cut there is one with larger chunks, whose last ones are short or empty.
template <typename F>
void for_each_schedule(F&& f) {
  for (const Operation operation : kOperations) {
    for (int world = 1; world <= kMaxWorld; ++world) {
      for (std::size_t count = 0; count <= kMaxCount; ++count) {
        for (const std::size_t more : {0, 1}) {
          Chunking chunking = Chunking::even(count, world);
          chunking.chunk += more;
          const int roots = operation == Operation::broadcast ? world : 1;
          for (int root = 0; root < roots; ++root) {
            SCOPED_TRACE(std::string(name(operation)) + ", world " + std::to_string(world) +
                         ", count " + std::to_string(count) + ", chunk " +
                         std::to_string(chunking.chunk) + ", root " + std::to_string(root));
            const auto schedule = make_schedule(operation, Algorithm::ring, world, chunking, root);
            ASSERT_NE(schedule, nullptr);
            f(*schedule, root);
          }
        }
      }
    }
  }
}

TEST(Schedule, EachSendMeetsAReceiveOfTheSameRoundAndChunk) {
  for_each_schedule([](const Schedule& schedule, int /*root*/) {
    for (int i = 0; i < schedule.rounds(); ++i) {
      int sends = 0;
      int receives = 0;
      for (int rank = 0; rank < schedule.world_size(); ++rank) {
        const Round round = schedule.round(rank, i);
        receives += round.receive.has_value() ? 1 : 0;
        if (!round.send.has_value()) {
          continue;
        }
        ++sends;
        ASSERT_NE(round.send->peer, rank) << "rank " << rank << " sends to itself";
        const Round peer = schedule.round(round.send->peer, i);
        ASSERT_TRUE(peer.receive.has_value()) << "round " << i << ", rank " << rank;
        EXPECT_EQ(peer.receive->peer, rank) << "round " << i;
        EXPECT_EQ(peer.receive->chunk, round.send->chunk) << "round " << i << ", rank " << rank;
      }
      EXPECT_EQ(sends, receives) << "round " << i;
    }
  });
}

TEST(Schedule, AnEmptyChunkIsNoMessage) {
  for_each_schedule([](const Schedule& schedule, int /*root*/) {
    for (int rank = 0; rank < schedule.world_size(); ++rank) {
      for (int i = 0; i < schedule.rounds(); ++i) {
        const Round round = schedule.round(rank, i);
        for (const std::optional<Transfer>& transfer : {round.send, round.receive}) {
          if (transfer.has_value() && schedule.operation() != Operation::barrier) {
            ASSERT_NE(transfer->chunk, Transfer::kToken);
            EXPECT_GT(schedule.chunking().size(transfer->chunk), 0U)
                << "round " << i << ", rank " << rank << ", chunk " << transfer->chunk;
          }
        }
      }
    }
  });
}

TEST(Schedule, RoundsAreThoseOfTheRing) {
  for_each_schedule([](const Schedule& schedule, int /*root*/) {
    const int n = schedule.world_size();
    int expected = n - 1;
    if (schedule.operation() == Operation::barrier) {
      expected = 0;
      for (int reached = 1; reached < n; reached *= 2) {
        ++expected;
      }
    } else if (schedule.operation() == Operation::all_reduce ||
               schedule.operation() == Operation::broadcast) {
      expected = 2 * (n - 1);
    }
    EXPECT_EQ(schedule.rounds(), expected);
  });
}

TEST(Schedule, SentElementsAreTheClosedForm) {
  for_each_schedule([](const Schedule& schedule, int root) {
    const int n = schedule.world_size();
    const Chunking& c = schedule.chunking();
    for (int rank = 0; rank < n; ++rank) {
      const std::uint64_t scatter = c.count - c.size(rank);
      const std::uint64_t gather = c.count - c.size((rank + 1) % n);
      std::uint64_t expected = 0;
      switch (schedule.operation()) {
        case Operation::reduce_scatter:
          expected = scatter;
          break;
        case Operation::all_gather:
          expected = gather;
          break;
        case Operation::all_reduce:
          expected = scatter + gather;
          break;
        case Operation::broadcast:  // All but the last of the chain pass everything on.
          expected = (rank + 1) % n == root ? 0 : c.count;
          break;
        case Operation::barrier:
          break;
      }
      EXPECT_EQ(sent_elements(schedule, rank), expected) << "rank " << rank;
    }
  });
}

// After the last round every rank has heard, directly or not, of every other one.
TEST(Schedule, ABarrierReachesEveryRankFromEveryRank) {
  for (int n = 1; n <= 40; ++n) {
    SCOPED_TRACE("world " + std::to_string(n));
    const auto schedule = make_schedule(Operation::barrier, Algorithm::ring, n, Chunking{});
    std::vector<std::vector<bool>> heard(static_cast<std::size_t>(n),
                                         std::vector<bool>(static_cast<std::size_t>(n)));
    for (std::size_t rank = 0; rank < heard.size(); ++rank) {
      heard[rank][rank] = true;
    }
    for (int i = 0; i < schedule->rounds(); ++i) {
      const auto before = heard;
      for (std::size_t rank = 0; rank < heard.size(); ++rank) {
        const Round round = schedule->round(static_cast<int>(rank), i);
        const auto& from = before[static_cast<std::size_t>(round.receive->peer)];
        for (std::size_t other = 0; other < from.size(); ++other) {
          heard[rank][other] = heard[rank][other] || from[other];
        }
      }
    }
    for (const std::vector<bool>& of_rank : heard) {
      EXPECT_EQ(std::count(of_rank.begin(), of_rank.end(), false), 0);
    }
  }
}

TEST(Schedule, ChunksTileTheVector) {
  for (std::size_t count = 0; count <= 40; ++count) {
    for (int parts = 1; parts <= 45; ++parts) {
      const Chunking chunking = Chunking::even(count, parts);
      std::size_t covered = 0;
      for (int i = 0; i < parts; ++i) {
        ASSERT_EQ(chunking.offset(i), covered) << count << " in " << parts << ", chunk " << i;
        covered += chunking.size(i);
      }
      EXPECT_EQ(covered, count) << "in " << parts;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
