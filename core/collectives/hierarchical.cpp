#include "core/collectives/hierarchical.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace shardscope {
namespace {

class HierarchicalSchedule final : public Schedule {
 public:
  HierarchicalSchedule(Operation operation, std::shared_ptr<const NodeGroups> nodes, int world_size,
                       Chunking chunking)
      : Schedule(operation, Algorithm::hierarchical, world_size, chunking),
        nodes_(std::move(nodes)) {
    SHARDSCOPE_CHECK(nodes_->fits(world_size), "nodes of another group");
  }

  int rounds() const override {
    return (operation() == Operation::all_reduce ? 2 : 1) * (inside() + across());
  }

  // Rings inside nodes and across them; an all_reduce goes across once, there and back.
  int stages() const override {
    const int parts = (inside() > 0 ? 1 : 0) + (across() > 0 ? 1 : 0);
    return operation() == Operation::all_reduce && inside() > 0 && across() > 0 ? 3 : parts;
  }
  void stage(int rank, int index, std::vector<Flow>& flows) const override {
    flows.clear();
    const bool begins_inside = operation() != Operation::all_gather && inside() > 0;
    const bool is_inside = across() == 0 || (inside() > 0 && (index % 2 == 0) == begins_inside);
    const bool is_whole_ring = operation() == Operation::all_reduce && stages() == 1;
    const bool twice = is_whole_ring || (operation() == Operation::all_reduce && !is_inside);
    const Flow flow = is_inside ? inside(rank, index, twice) : across(rank, twice);
    if (flow.elements > 0) {
      flows.push_back(flow);
    }
  }

  // On every rank what the largest message has.
  Staging staging(int /*rank*/) const override {
    std::size_t most = across() > 0 ? chunking().size(0) : 0;
    for (int local = 0; local <= inside() && inside() > 0; ++local) {
      std::size_t elements = 0;
      for (int node = 0; node <= across(); ++node) {
        elements += chunking().size(nodes_->rank(node, local));
      }
      most = std::max(most, elements);
    }
    return symmetric_staging(operation(), most);
  }

 private:
  // Rounds of half a ring.
  int inside() const { return nodes_->ranks_per_node() - 1; }
  int across() const { return nodes_->nodes() - 1; }

  // Around the rank's node: chunks are reduced in the first stage, and gathered in the last.
  Flow inside(int rank, int index, bool twice) const {
    const int size = nodes_->ranks_per_node();
    const int next = wrap(nodes_->local_rank(rank) + 1, size);
    const std::uint64_t reduced = chunking().count - chunks_of(nodes_->local_rank(rank));
    const std::uint64_t gathered = chunking().count - chunks_of(next);
    const bool gathers = operation() == Operation::all_gather || index > 0;
    return {.peer = nodes_->rank(nodes_->node(rank), next),
            .elements = twice     ? reduced + gathered
                        : gathers ? gathered
                                  : reduced,
            .carried = static_cast<std::uint64_t>((twice ? 2 : 1) * inside()) * chunks_of(0),
            .rounds = (twice ? 2 : 1) * inside()};
  }

  // Among the ranks with one local rank.
  Flow across(int rank, bool twice) const {
    const int local = nodes_->local_rank(rank);
    const int next = nodes_->rank(wrap(nodes_->node(rank) + 1, nodes_->nodes()), local);
    const std::uint64_t reduced = chunks_of(local) - chunking().size(rank);
    const std::uint64_t gathered = chunks_of(local) - chunking().size(next);
    const bool gathers = operation() == Operation::all_gather;
    return {.peer = next,
            .elements = twice     ? reduced + gathered
                        : gathers ? gathered
                                  : reduced,
            .carried = static_cast<std::uint64_t>((twice ? 2 : 1) * across()) *
                       chunking().size(nodes_->rank(0, local)),
            .rounds = (twice ? 2 : 1) * across()};
  }

  // Elements of the chunks of a local rank's fellows.
  std::uint64_t chunks_of(int local) const {
    const auto ranks = static_cast<std::size_t>(world_size());
    if (chunking().count == ranks * chunking().chunk) {
      return static_cast<std::uint64_t>(nodes_->nodes()) * chunking().chunk;
    }
    std::uint64_t elements = 0;
    for (int node = 0; node < nodes_->nodes(); ++node) {
      elements += chunking().size(nodes_->rank(node, local));
    }
    return elements;
  }

  void fill(int rank, int index, Round& round) const override {
    const int half = inside() + across();
    if (operation() == Operation::all_gather || index >= half) {
      const int i = operation() == Operation::all_gather ? index : index - half;
      return i < across() ? around_nodes(rank, i, Arrival::replaces, round)
                          : around_node(rank, i - across(), Arrival::replaces, round);
    }
    return index < inside() ? around_node(rank, index + 1, Arrival::is_added, round)
                            : around_nodes(rank, index - inside() + 1, Arrival::is_added, round);
  }

  static int wrap(int value, int size) { return (value % size + size) % size; }

  // The rank passes on the chunks of the local rank `back` places before it.
  void around_node(int rank, int back, Arrival arrival, Round& round) const {
    const int size = nodes_->ranks_per_node();
    const int node = nodes_->node(rank);
    const int local = nodes_->local_rank(rank);
    const auto chunks_of = [&](int member) {
      return [this, member = wrap(member, size)](int i) {
        return chunking().range(nodes_->rank(i, member));
      };
    };
    round.send(nodes_->rank(node, wrap(local + 1, size)), nodes_->nodes(), chunks_of(local - back));
    round.receive(nodes_->rank(node, wrap(local - 1, size)), arrival, nodes_->nodes(),
                  chunks_of(local - back - 1));
  }

  // The rank passes on the chunk of its fellow `back` nodes before it.
  void around_nodes(int rank, int back, Arrival arrival, Round& round) const {
    const int local = nodes_->local_rank(rank);
    const auto fellow = [&](int away) {
      return nodes_->rank(wrap(nodes_->node(rank) + away, nodes_->nodes()), local);
    };
    round.send(fellow(1), chunking().range(fellow(-back)));
    round.receive(fellow(-1), arrival, chunking().range(fellow(-back - 1)));
  }

  std::shared_ptr<const NodeGroups> nodes_;
};

}  // namespace

std::unique_ptr<const Schedule> make_hierarchical_schedule(Operation operation,
                                                           std::shared_ptr<const NodeGroups> nodes,
                                                           int world_size, Chunking chunking) {
  return std::make_unique<HierarchicalSchedule>(operation, std::move(nodes), world_size, chunking);
}

}  // namespace shardscope
