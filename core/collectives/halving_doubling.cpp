#include "core/collectives/halving_doubling.h"

#include <bit>

namespace shardscope {
namespace {

class HalvingDoublingSchedule final : public Schedule {
 public:
  HalvingDoublingSchedule(Operation operation, int world_size, Chunking chunking)
      : Schedule(operation, Algorithm::halving_doubling, world_size, chunking),
        acting_(static_cast<int>(std::bit_floor(static_cast<unsigned>(world_size)))),
        folded_(world_size - acting_),
        steps_(std::countr_zero(static_cast<unsigned>(acting_))) {}

  int rounds() const override {
    return (operation() == Operation::all_reduce ? 2 : 1) * steps_ + (folded_ > 0 ? 2 : 0);
  }

 private:
  void fill(int rank, int index, Round& round) const override {
    if (folded_ > 0 && index == 0) {
      return fold(rank, round);
    }
    if (folded_ > 0 && index == rounds() - 1) {
      return unfold(rank, round);
    }
    if (is_folded(rank)) {
      return;
    }
    const int step = index - (folded_ > 0 ? 1 : 0);
    if (operation() == Operation::all_gather) {
      return exchange_own(rank, 1 << step, round);
    }
    return step < steps_ ? exchange_halves(rank, acting_ >> (step + 1), round)
                         : exchange_own(rank, 1 << (step - steps_), round);
  }

  bool has_partner(int rank) const { return rank < 2 * folded_; }
  bool is_folded(int rank) const { return has_partner(rank) && rank % 2 == 1; }
  int index_of(int rank) const { return has_partner(rank) ? rank / 2 : rank - folded_; }
  int rank_of(int index) const { return index < folded_ ? 2 * index : index + folded_; }

  // Elements of blocks [first, first + count).
  Range blocks(int first, int count) const {
    const std::size_t begin = chunking().offset(rank_of(first));
    return {begin, chunking().offset(rank_of(first + count)) - begin};
  }

  // What a folded rank has to give.
  void fold(int rank, Round& round) const {
    if (!has_partner(rank)) {
      return;
    }
    const bool adds = reduces(operation());
    const Range given =
        adds ? Range{0, chunking().count} : chunking().range(is_folded(rank) ? rank : rank + 1);
    if (is_folded(rank)) {
      round.send(rank - 1, given);
    } else {
      round.receive(rank + 1, adds ? Arrival::is_added : Arrival::replaces, given);
    }
  }

  // What a folded rank ends with, as far as it does not have it.
  void unfold(int rank, Round& round) const {
    if (!has_partner(rank)) {
      return;
    }
    const int folded = is_folded(rank) ? rank : rank + 1;
    const std::size_t begin = chunking().offset(folded);
    const std::size_t end = chunking().offset(folded + 1);
    const auto part = [&](int index) -> Range {
      switch (operation()) {
        case Operation::reduce_scatter:
          return index == 0 ? Range{begin, end - begin} : Range{};
        case Operation::all_gather:
          return index == 0 ? Range{0, begin} : Range{end, chunking().count - end};
        default:
          return index == 0 ? Range{0, chunking().count} : Range{};
      }
    };
    if (is_folded(rank)) {
      round.receive(rank - 1, Arrival::replaces, 2, part);
    } else {
      round.send(rank + 1, 2, part);
    }
  }

  // Of the 2 `distance` blocks that both work on each keeps the half in which its own lies.
  void exchange_halves(int rank, int distance, Round& round) const {
    const int index = index_of(rank);
    const int kept = index & ~(distance - 1);
    const int peer = rank_of(index ^ distance);
    round.send(peer, blocks(kept ^ distance, distance));
    round.receive(peer, Arrival::is_added, blocks(kept, distance));
  }

  // Each has `distance` complete blocks.
  void exchange_own(int rank, int distance, Round& round) const {
    const int index = index_of(rank);
    const int own = index & ~(distance - 1);
    const int peer = rank_of(index ^ distance);
    round.send(peer, blocks(own, distance));
    round.receive(peer, Arrival::replaces, blocks(own ^ distance, distance));
  }

  int acting_;  // p
  int folded_;  // e
  int steps_;   // q
};

}  // namespace

std::unique_ptr<const Schedule> make_halving_doubling_schedule(Operation operation, int world_size,
                                                               Chunking chunking) {
  return std::make_unique<HalvingDoublingSchedule>(operation, world_size, chunking);
}

}  // namespace shardscope
