// What a collective sends, as data: for each rank a sequence of rounds, in each of which it sends
// at most one chunk to a peer and receives at most one from a peer, copying it or adding it to its
// own.
//
// A schedule is a pure function of (operation, algorithm, world size, counts). It knows neither
// memory nor time: the executor, the closed forms and the teaching view all read the same one. The
// order in which the addends of a chunk meet is part of it and never depends on arrival.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace shardscope {

enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast, barrier };
enum class Algorithm { ring };

std::string_view name(Operation operation);
std::string_view name(Algorithm algorithm);

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
};

/// One message. `chunk` is kToken for a message without data (barrier).
struct Transfer {
  static constexpr int kToken = -1;

  int peer = 0;
  int chunk = kToken;
};

/// Send and receive of a round go on at once; the round ends when both are done.
struct Round {
  std::optional<Transfer> send;
  std::optional<Transfer> receive;
  bool reduce = false;  ///< Add the received chunk to the own one; else it replaces it.
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  /// Rounds are the same in number on every rank; round i of a rank meets round i of its peers.
  /// A chunk that is empty is neither sent nor received.
  virtual int rounds() const = 0;
  virtual Round round(int rank, int index) const = 0;

  int world_size() const { return world_size_; }
  Operation operation() const { return operation_; }
  const Chunking& chunking() const { return chunking_; }

 protected:
  Schedule(Operation operation, int world_size, Chunking chunking)
      : operation_(operation), world_size_(world_size), chunking_(chunking) {}

 private:
  Operation operation_;
  int world_size_;
  Chunking chunking_;
};

/// The schedule of a collective over `world_size` >= 1 ranks on a vector cut by `chunking` into
/// world_size chunks. Rank r contributes (all_gather) or ends up with (reduce_scatter) chunk r.
/// `root` is the source of a broadcast, ignored by the others.
std::unique_ptr<const Schedule> make_schedule(Operation operation, Algorithm algorithm,
                                              int world_size, Chunking chunking, int root = 0);

/// Elements that `rank` sends over the whole schedule, by walking it.
std::uint64_t sent_elements(const Schedule& schedule, int rank);

}  // namespace shardscope
