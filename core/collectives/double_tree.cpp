#include "core/collectives/double_tree.h"

#include <array>
#include <bit>

#include "core/check.h"

namespace shardscope {
namespace {

constexpr int kNobody = -1;
constexpr int kTrees = 2;

// A place of the binary tree in which odd places are leaves and place 0 is the root, as NCCL
// builds it.
struct Place {
  int parent = kNobody;
  std::array<int, 2> children = {kNobody, kNobody};
};

Place place_in_tree(int places, int index) {
  if (index == 0) {
    const int below = static_cast<int>(std::bit_floor(static_cast<unsigned>(places - 1)));
    return {.parent = kNobody, .children = {places > 1 ? below : kNobody, kNobody}};
  }
  const int bit = index & -index;
  const int up = (index ^ bit) | (bit << 1);
  Place place = {.parent = up < places ? up : index ^ bit, .children = {kNobody, kNobody}};
  int step = bit >> 1;
  if (step > 0) {
    place.children[0] = index - step;
    while (step > 0 && index + step >= places) {
      step >>= 1;
    }
    place.children[1] = step > 0 ? index + step : kNobody;
  }
  return place;
}

int depth_in_tree(int places, int index) {
  int depth = 0;
  for (int parent = place_in_tree(places, index).parent; parent != kNobody;
       parent = place_in_tree(places, parent).parent) {
    ++depth;
  }
  return depth;
}

class DoubleTreeSchedule final : public Schedule {
 public:
  DoubleTreeSchedule(Operation operation, int segments, int world_size, Chunking chunking, int root)
      : Schedule(operation, Algorithm::double_tree, world_size, chunking),
        segments_(segments),
        root_(root),
        members_(operation == Operation::broadcast ? world_size - 1 : world_size),
        height_(members_ > 1 ? std::bit_width(static_cast<unsigned>(members_ - 1)) : 0),
        halves_(Chunking::even(chunking.count, kTrees)) {
    SHARDSCOPE_CHECK(segments >= 1, "a vector in no segments");
  }

  int rounds() const override {
    if (world_size() == 1) {
      return 0;
    }
    return segments_ + height_ + (operation() == Operation::all_reduce ? height_ - 1 : 0);
  }

  // Up once and down twice at most, in each tree.
  std::int64_t messages() const override { return std::int64_t{3} * kTrees * segments_; }

  // A segment for each child whose sums come up, and for what goes down.
  Staging staging(int rank) const override {
    Staging staging;
    for (int tree = 0; tree < kTrees && world_size() > 1; ++tree) {
      const Node node = node_of(tree, rank);
      const std::size_t segment = segments_of(tree).size(0);
      int children = 0;
      for (const int child : node.children) {
        children += child != kNobody ? 1 : 0;
      }
      if (reduces(operation())) {
        staging.added += static_cast<std::size_t>(children) * segment;
      } else {
        staging.sent += children > 0 ? segment : 0;
        staging.received += node.parent != kNobody ? segment : 0;
      }
    }
    return staging;
  }

 private:
  // A rank in a tree; the others by their rank.
  struct Node {
    int depth = 0;
    int parent = kNobody;
    std::array<int, 2> children = {kNobody, kNobody};
  };

  // Members of the trees are counted from the rank after the root where there is one.
  int first_member() const { return operation() == Operation::broadcast ? root_ + 1 : 0; }

  int place_of(int tree, int member) const {
    if (tree == 0) {
      return member;
    }
    return members_ % 2 == 0 ? members_ - 1 - member : (member + members_ - 1) % members_;
  }

  int rank_at(int tree, int place) const {
    if (place == kNobody) {
      return kNobody;
    }
    int member = place;
    if (tree == 1) {
      member = members_ % 2 == 0 ? members_ - 1 - place : (place + 1) % members_;
    }
    return wrap(first_member() + member);
  }

  Node node_of(int tree, int rank) const {
    const bool broadcasts = operation() == Operation::broadcast;
    if (broadcasts && rank == root_) {
      return {.depth = 0, .parent = kNobody, .children = {rank_at(tree, 0), kNobody}};
    }
    const int index = place_of(tree, wrap(rank - first_member()));
    const Place place = place_in_tree(members_, index);
    const int up = rank_at(tree, place.parent);
    return {.depth = depth_in_tree(members_, index) + (broadcasts ? 1 : 0),
            .parent = broadcasts && up == kNobody ? root_ : up,
            .children = {rank_at(tree, place.children[0]), rank_at(tree, place.children[1])}};
  }

  Chunking segments_of(int tree) const { return Chunking::even(halves_.size(tree), segments_); }

  // Nothing if there is no such segment.
  Range segment(int tree, int index) const {
    if (index < 0 || index >= segments_) {
      return {};
    }
    const Range range = segments_of(tree).range(index);
    return {halves_.offset(tree) + range.offset, range.count};
  }

  void fill(int rank, int index, Round& round) const override {
    for (int tree = 0; tree < kTrees; ++tree) {
      const Node node = node_of(tree, rank);
      if (operation() == Operation::all_reduce) {
        up(tree, node, index - height_ + node.depth, round);
        down(tree, node, index - height_ - node.depth, round);
      } else {
        down(tree, node, index - node.depth, round);
      }
    }
  }

  void up(int tree, const Node& node, int sent, Round& round) const {
    if (node.parent != kNobody) {
      round.send(node.parent, segment(tree, sent));
    }
    for (const int child : node.children) {
      if (child != kNobody) {
        round.receive(child, Arrival::is_added, segment(tree, sent + 1));
      }
    }
  }

  void down(int tree, const Node& node, int sent, Round& round) const {
    for (const int child : node.children) {
      if (child != kNobody) {
        round.send(child, segment(tree, sent));
      }
    }
    if (node.parent != kNobody) {
      round.receive(node.parent, Arrival::replaces, segment(tree, sent + 1));
    }
  }

  int segments_;
  int root_;
  int members_;  // Of the trees.
  int height_;
  Chunking halves_;
};

}  // namespace

std::unique_ptr<const Schedule> make_double_tree_schedule(Operation operation, int segments,
                                                          int world_size, Chunking chunking,
                                                          int root) {
  return std::make_unique<DoubleTreeSchedule>(operation, segments, world_size, chunking, root);
}

}  // namespace shardscope
