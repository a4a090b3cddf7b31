// What a collective sends, as data: for each rank a sequence of rounds, in each of which it sends
// messages to peers and receives messages from peers, copying or adding them to its own elements.
//
// A schedule is a pure function of (operation, plan, world size, counts). It knows neither memory
// nor time: the executor, the closed forms and the teaching view all read the same one. The order
// in which the addends of an element meet is part of it and never depends on arrival.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/collectives/plan.h"
#include "core/collectives/round.h"

namespace shardscope {

/// A vector of `count` elements cut into chunks of `chunk`: chunk i is
/// [i chunk, min((i+1) chunk, count)); later ones may be short or empty.
struct Chunking {
  std::size_t count = 0;
  std::size_t chunk = 0;

  /// ceil(count / parts) elements a chunk.
  static Chunking even(std::size_t count, int parts) {
    const auto n = static_cast<std::size_t>(parts);
    return {count, count / n + (count % n != 0 ? 1 : 0)};
  }

  std::size_t offset(int index) const {
    return std::min(static_cast<std::size_t>(index) * chunk, count);
  }
  std::size_t size(int index) const { return offset(index + 1) - offset(index); }
  Range range(int index) const { return {offset(index), size(index)}; }
};

/// Elements of the buffers that a device needs beside the vector. A reduction holds what one round
/// receives to be added. The others need buffers only where chunks are not contiguous in memory:
/// one for what a round sends, once though it goes to several peers, and one for what it receives.
struct Staging {
  std::size_t added = 0;
  std::size_t sent = 0;
  std::size_t received = 0;

  friend bool operator==(const Staging&, const Staging&) = default;
};

/// Whether what arrives is added.
bool reduces(Operation operation);

/// Of a message of so many elements each way.
Staging symmetric_staging(Operation operation, std::size_t elements);

/// What a rank sends to a peer while the peers of all ranks stay the same: messages one after
/// another, seen as one flow. On equal links it takes the time of `carried` elements and the path's
/// latency once for each of its rounds, whoever sends the largest messages.
struct Flow {
  int peer = 0;
  std::uint64_t elements = 0;  ///< Of all messages.
  std::uint64_t carried = 0;   ///< Of the largest message of each round.
  int rounds = 1;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  /// The schedule as flows, where its rounds grow with the ranks: rounds in which no rank changes
  /// its peers make a stage; a stage begins when the one before it is over on all ranks. 0: it has
  /// few messages and no flows.
  virtual int stages() const { return 0; }

  /// Replaces what `flows` held: those of a rank in a stage. The sum of their elements over stages
  /// is sent_elements().
  virtual void stage(int /*rank*/, int /*index*/, std::vector<Flow>& flows) const { flows.clear(); }

  /// Rounds are the same in number on every rank; round i of a rank meets round i of its peers.
  /// Empty ranges are neither sent nor received.
  virtual int rounds() const = 0;

  /// Replaces what `round` held.
  void round(int rank, int index, Round& round) const {
    round.clear();
    fill(rank, index, round);
  }
  Round round(int rank, int index) const {
    Round round;
    fill(rank, index, round);
    return round;
  }

  /// Of a reduction `sent` and `received` are 0, of the others `added`.
  virtual Staging staging(int rank) const;

  /// No rank sends, or receives, more messages than this; the same figure on all.
  virtual std::int64_t messages() const { return rounds(); }

  int world_size() const { return world_size_; }
  Operation operation() const { return operation_; }

  /// Whose messages these are (algorithm_of).
  Algorithm algorithm() const { return algorithm_; }

  const Chunking& chunking() const { return chunking_; }

 protected:
  Schedule(Operation operation, Algorithm algorithm, int world_size, Chunking chunking)
      : operation_(operation),
        algorithm_(algorithm),
        world_size_(world_size),
        chunking_(chunking) {}

  /// Adds the messages of a rank's round to an empty one.
  virtual void fill(int rank, int index, Round& round) const = 0;

  /// A rank, of any number.
  int wrap(int value) const {
    const int n = world_size_;
    return (value % n + n) % n;
  }

 private:
  Operation operation_;
  Algorithm algorithm_;
  int world_size_;
  Chunking chunking_;
};

/// The schedule of a collective over `world_size` >= 1 ranks on a vector cut by `chunking` into
/// world_size chunks. Rank r contributes (all_gather) or ends up with (reduce_scatter) chunk r.
/// `root` is the source of a broadcast, ignored by the others. Aborts if the plan is for another
/// number of ranks.
std::unique_ptr<const Schedule> make_schedule(Operation operation,
                                              const std::shared_ptr<const CollectivePlan>& plan,
                                              int world_size, Chunking chunking, int root = 0);

/// Elements that `rank` sends over the whole schedule, by walking it.
std::uint64_t sent_elements(const Schedule& schedule, int rank);

}  // namespace shardscope
