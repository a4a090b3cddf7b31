#include "core/collectives/ring.h"

#include "core/check.h"

namespace shardscope {
namespace {

class RingSchedule final : public Schedule {
 public:
  RingSchedule(Operation operation, int world_size, Chunking chunking, int root)
      : Schedule(operation, world_size, chunking), root_(root) {}

  int rounds() const override {
    const int n = world_size();
    switch (operation()) {
      case Operation::reduce_scatter:
      case Operation::all_gather:
        return n - 1;
      case Operation::all_reduce:
      case Operation::broadcast:
        return 2 * (n - 1);
      case Operation::barrier: {
        int rounds = 0;
        while ((1 << rounds) < n) {
          ++rounds;
        }
        return rounds;
      }
    }
    return 0;
  }

  Round round(int rank, int index) const override {
    const int n = world_size();
    switch (operation()) {
      case Operation::reduce_scatter:
        return around(rank, rank - index - 1, /*reduce=*/true);
      case Operation::all_gather:
        return around(rank, rank - index, /*reduce=*/false);
      case Operation::all_reduce:
        return index < n - 1 ? around(rank, rank - index - 1, /*reduce=*/true)
                             : around(rank, rank - (index - (n - 1)), /*reduce=*/false);
      case Operation::broadcast:
        return down_the_chain(rank, index);
      case Operation::barrier:
        return {.send = Transfer{wrap(rank + (1 << index)), Transfer::kToken},
                .receive = Transfer{wrap(rank - (1 << index)), Transfer::kToken}};
    }
    return {};
  }

 private:
  int wrap(int value) const {
    const int n = world_size();
    return (value % n + n) % n;
  }

  // A message of the chunk, unless there is no such chunk or it is empty.
  std::optional<Transfer> transfer(int peer, int chunk) const {
    const bool any = chunk >= 0 && chunk < world_size() && chunking().size(chunk) > 0;
    return any ? std::optional(Transfer{peer, chunk}) : std::nullopt;
  }

  // The rank passes `chunk` on and receives the one before it.
  Round around(int rank, int chunk, bool reduce) const {
    return {.send = transfer(wrap(rank + 1), wrap(chunk)),
            .receive = transfer(wrap(rank - 1), wrap(chunk - 1)),
            .reduce = reduce};
  }

  // The rank at distance d from the root receives chunk j in round d-1+j and sends it in round d+j.
  Round down_the_chain(int rank, int index) const {
    const int distance = wrap(rank - root_);
    Round round;
    if (distance > 0) {
      round.receive = transfer(wrap(rank - 1), index - (distance - 1));
    }
    if (distance < world_size() - 1) {
      round.send = transfer(wrap(rank + 1), index - distance);
    }
    return round;
  }

  int root_;
};

}  // namespace

std::unique_ptr<const Schedule> make_ring_schedule(Operation operation, int world_size,
                                                   Chunking chunking, int root) {
  SHARDSCOPE_CHECK(world_size >= 1 && root >= 0 && root < world_size, "no such process group");
  return std::make_unique<RingSchedule>(operation, world_size, chunking, root);
}

}  // namespace shardscope
