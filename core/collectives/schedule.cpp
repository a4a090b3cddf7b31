#include "core/collectives/schedule.h"

#include "core/collectives/ring.h"

namespace shardscope {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::all_gather:
      return "all_gather";
    case Operation::broadcast:
      return "broadcast";
    case Operation::barrier:
      return "barrier";
  }
  return "";
}

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "RING";
  }
  return "";
}

std::unique_ptr<const Schedule> make_schedule(Operation operation, Algorithm algorithm,
                                              int world_size, Chunking chunking, int root) {
  switch (algorithm) {
    case Algorithm::ring:
      return make_ring_schedule(operation, world_size, chunking, root);
  }
  return nullptr;
}

std::uint64_t sent_elements(const Schedule& schedule, int rank) {
  std::uint64_t elements = 0;
  for (int i = 0; i < schedule.rounds(); ++i) {
    const Round round = schedule.round(rank, i);
    if (round.send.has_value() && round.send->chunk != Transfer::kToken) {
      elements += schedule.chunking().size(round.send->chunk);
    }
  }
  return elements;
}

}  // namespace shardscope
