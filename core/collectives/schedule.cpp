#include "core/collectives/schedule.h"

#include "core/check.h"
#include "core/collectives/barrier.h"
#include "core/collectives/direct.h"
#include "core/collectives/double_tree.h"
#include "core/collectives/halving_doubling.h"
#include "core/collectives/hierarchical.h"
#include "core/collectives/ring.h"

namespace shardscope {

bool reduces(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

Staging symmetric_staging(Operation operation, std::size_t elements) {
  return reduces(operation) ? Staging{.added = elements, .sent = 0, .received = 0}
                            : Staging{.added = 0, .sent = elements, .received = elements};
}

// By walking the rounds.
Staging Schedule::staging(int rank) const {
  Staging most;
  Round round;
  for (int i = 0; i < rounds(); ++i) {
    this->round(rank, i, round);
    Staging needed;
    for (const Transfer& receive : round.receives()) {
      (receive.arrival == Arrival::is_added ? needed.added : needed.received) +=
          round.elements(receive);
    }
    const Transfer* before = nullptr;
    for (const Transfer& send : round.sends()) {
      const bool is_same =
          before != nullptr && std::ranges::equal(round.ranges(*before), round.ranges(send));
      needed.sent += is_same ? 0 : round.elements(send);
      before = &send;
    }
    most = {.added = std::max(most.added, needed.added),
            .sent = std::max(most.sent, needed.sent),
            .received = std::max(most.received, needed.received)};
  }
  return reduces(operation()) ? Staging{.added = most.added, .sent = 0, .received = 0} : most;
}

std::unique_ptr<const Schedule> make_schedule(Operation operation,
                                              const std::shared_ptr<const CollectivePlan>& plan,
                                              int world_size, Chunking chunking, int root) {
  SHARDSCOPE_CHECK(world_size >= 1 && root >= 0 && root < world_size, "no such process group");
  if (operation == Operation::barrier) {
    return make_barrier_schedule(world_size);
  }
  switch (algorithm_of(*plan, operation)) {
    case Algorithm::ring:
      break;
    case Algorithm::halving_doubling:
      return make_halving_doubling_schedule(operation, world_size, chunking);
    case Algorithm::double_tree:
      return make_double_tree_schedule(operation, plan->segments, world_size, chunking, root);
    case Algorithm::direct:
      return make_direct_schedule(operation, world_size, chunking, root);
    case Algorithm::hierarchical:
      return make_hierarchical_schedule(operation, {plan, &plan->nodes}, world_size, chunking);
  }
  if (plan->algorithm == Algorithm::hierarchical) {  // Its broadcast.
    return make_ring_schedule(
        operation,
        std::make_shared<const RingOrders>(std::vector<std::vector<int>>{plan->nodes.ranks()}),
        world_size, chunking, root);
  }
  return make_ring_schedule(operation, {plan, &plan->rings}, world_size, chunking, root);
}

std::uint64_t sent_elements(const Schedule& schedule, int rank) {
  std::uint64_t elements = 0;
  Round round;
  for (int i = 0; i < schedule.rounds(); ++i) {
    schedule.round(rank, i, round);
    for (const Transfer& send : round.sends()) {
      elements += round.elements(send);
    }
  }
  return elements;
}

}  // namespace shardscope
