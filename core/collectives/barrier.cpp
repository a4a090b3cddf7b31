#include "core/collectives/barrier.h"

namespace shardscope {
namespace {

class BarrierSchedule final : public Schedule {
 public:
  explicit BarrierSchedule(int world_size)
      : Schedule(Operation::barrier, Algorithm::ring, world_size, {}) {}

  int rounds() const override {
    int rounds = 0;
    while ((1 << rounds) < world_size()) {
      ++rounds;
    }
    return rounds;
  }

 private:
  void fill(int rank, int index, Round& round) const override {
    round.send_token(wrap(rank + (1 << index)));
    round.receive_token(wrap(rank - (1 << index)));
  }
};

}  // namespace

std::unique_ptr<const Schedule> make_barrier_schedule(int world_size) {
  return std::make_unique<BarrierSchedule>(world_size);
}

}  // namespace shardscope
