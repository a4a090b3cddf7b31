#include "core/collectives/direct.h"

namespace shardscope {
namespace {

class DirectSchedule final : public Schedule {
 public:
  DirectSchedule(Operation operation, int world_size, Chunking chunking, int root)
      : Schedule(operation, Algorithm::direct, world_size, chunking), root_(root) {}

  int rounds() const override {
    if (world_size() == 1) {
      return 0;
    }
    return operation() == Operation::all_reduce ? 2 : 1;
  }

  std::int64_t messages() const override { return std::int64_t{rounds()} * (world_size() - 1); }

 private:
  void fill(int rank, int index, Round& round) const override {
    switch (operation()) {
      case Operation::reduce_scatter:
        return scatter(rank, round);
      case Operation::all_gather:
        return gather(rank, round);
      case Operation::all_reduce:
        return index == 0 ? scatter(rank, round) : gather(rank, round);
      case Operation::broadcast:
        return spread(rank, round);
      case Operation::barrier:
        break;
    }
  }

  void scatter(int rank, Round& round) const {
    for (int i = 1; i < world_size(); ++i) {
      round.send(wrap(rank - i), chunking().range(wrap(rank - i)));
      round.receive(wrap(rank + i), Arrival::is_added, chunking().range(rank));
    }
  }

  void gather(int rank, Round& round) const {
    for (int i = 1; i < world_size(); ++i) {
      round.send(wrap(rank - i), chunking().range(rank));
      round.receive(wrap(rank + i), Arrival::replaces, chunking().range(wrap(rank + i)));
    }
  }

  void spread(int rank, Round& round) const {
    const Range all = {0, chunking().count};
    if (rank != root_) {
      round.receive(root_, Arrival::replaces, all);
      return;
    }
    for (int i = 1; i < world_size(); ++i) {
      round.send(wrap(rank + i), all);
    }
  }

  int root_;
};

}  // namespace

std::unique_ptr<const Schedule> make_direct_schedule(Operation operation, int world_size,
                                                     Chunking chunking, int root) {
  return std::make_unique<DirectSchedule>(operation, world_size, chunking, root);
}

}  // namespace shardscope
