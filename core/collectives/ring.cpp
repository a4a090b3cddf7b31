#include "core/collectives/ring.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace shardscope {
namespace {

class RingSchedule final : public Schedule {
 public:
  RingSchedule(Operation operation, std::shared_ptr<const RingOrders> rings, int world_size,
               Chunking chunking, int root)
      : Schedule(operation, Algorithm::ring, world_size, chunking),
        rings_(std::move(rings)),
        root_(root) {
    SHARDSCOPE_CHECK(rings_->fits(world_size), "rings of another group");
  }

  int rounds() const override {
    const bool twice = operation() == Operation::all_reduce || operation() == Operation::broadcast;
    return (twice ? 2 : 1) * (world_size() - 1);
  }

  std::int64_t messages() const override { return std::int64_t{rounds()} * rings_->channels(); }

  // Every rank sends to the next one of each ring, from the first round to the last.
  int stages() const override { return rounds() > 0 ? 1 : 0; }
  void stage(int rank, int /*index*/, std::vector<Flow>& flows) const override {
    flows.clear();
    for (int channel = 0; channel < rings_->channels(); ++channel) {
      const int next = rank_at(channel, rings_->position(channel, rank) + 1);
      Flow flow = operation() == Operation::broadcast ? chain(channel) : circle(channel);
      flow.peer = next;
      flow.elements = sent(channel, rank, next);
      if (flow.elements > 0) {
        flows.push_back(flow);
      }
    }
  }

  // A part for each channel, on every rank.
  Staging staging(int /*rank*/) const override {
    const int channels = rings_->channels();
    const std::size_t part = Chunking::even(chunking().size(0), channels).chunk;
    return symmetric_staging(operation(),
                             rounds() > 0 ? static_cast<std::size_t>(channels) * part : 0);
  }

 private:
  void fill(int rank, int index, Round& round) const override {
    for (int channel = 0; channel < rings_->channels(); ++channel) {
      fill(channel, rings_->position(channel, rank), index, round);
    }
  }

  // `place` is the rank's in the channel's ring.
  void fill(int channel, int place, int index, Round& round) const {
    const int half = world_size() - 1;
    switch (operation()) {
      case Operation::reduce_scatter:
        return around(channel, place, place - index - 1, Arrival::is_added, round);
      case Operation::all_gather:
        return around(channel, place, place - index, Arrival::replaces, round);
      case Operation::all_reduce:
        return index < half
                   ? around(channel, place, place - index - 1, Arrival::is_added, round)
                   : around(channel, place, place - (index - half), Arrival::replaces, round);
      case Operation::broadcast:
        return down_the_chain(channel, place, index, round);
      case Operation::barrier:
        break;
    }
  }

  // Elements that a rank sends to the next one of a channel.
  std::uint64_t sent(int channel, int rank, int next) const {
    const std::uint64_t all = whole(channel);
    switch (operation()) {
      case Operation::reduce_scatter:
        return all - part(channel, rank).count;
      case Operation::all_gather:
        return all - part(channel, next).count;
      case Operation::all_reduce:
        return 2 * all - part(channel, rank).count - part(channel, next).count;
      case Operation::broadcast:
        return next == root_ ? 0 : all;
      case Operation::barrier:
        break;
    }
    return 0;
  }

  // The largest part goes around with no rank waiting, so that every round takes its time.
  Flow circle(int channel) const {
    const std::uint64_t largest =
        std::max(part(channel, 0).count, part(channel, last_chunk()).count);
    return {.carried = static_cast<std::uint64_t>(rounds()) * largest, .rounds = rounds()};
  }

  // Parts follow one another to the last rank, which gets the last one, that may be smaller, when
  // all others have passed.
  Flow chain(int channel) const {
    const int hops = world_size() - 1;
    const int last = last_chunk();
    const std::uint64_t first_size = part(channel, 0).count;
    const std::uint64_t last_size = part(channel, last).count;
    const int before = hops + last - 1;
    const bool is_smaller = last_size <= first_size;
    const std::uint64_t carried = last == 0 ? static_cast<std::uint64_t>(hops) * first_size
                                  : is_smaller
                                      ? static_cast<std::uint64_t>(before) * first_size + last_size
                                      : static_cast<std::uint64_t>(last) * first_size +
                                            static_cast<std::uint64_t>(hops) * last_size;
    return {.carried = carried, .rounds = hops + last};
  }

  // The last one that is not empty; it need not be full.
  int last_chunk() const {
    const std::size_t chunk = std::max<std::size_t>(chunking().chunk, 1);
    const std::size_t chunks = (chunking().count + chunk - 1) / chunk;
    return static_cast<int>(std::max<std::size_t>(chunks, 1)) - 1;
  }

  // What a channel moves of all chunks: full ones, the last that is not, empty ones.
  std::uint64_t whole(int channel) const {
    if (rings_->channels() == 1) {
      return chunking().count;
    }
    const std::size_t chunk = std::max<std::size_t>(chunking().chunk, 1);
    const std::size_t full = chunking().count / chunk;
    const auto of_a_chunk = [&](std::size_t size) {
      return Chunking::even(size, rings_->channels()).range(channel).count;
    };
    return full * of_a_chunk(chunk) + of_a_chunk(chunking().count - full * chunk);
  }

  int rank_at(int channel, int place) const { return rings_->rank_at(channel, wrap(place)); }

  // What the channel moves of a chunk.
  Range part(int channel, int chunk) const {
    const Range whole = chunking().range(chunk);
    if (rings_->channels() == 1) {
      return whole;
    }
    const Range part = Chunking::even(whole.count, rings_->channels()).range(channel);
    return {whole.offset + part.offset, part.count};
  }

  // The rank passes on the chunk of the rank at place `of`, and receives that of the one before it.
  void around(int channel, int place, int of, Arrival arrival, Round& round) const {
    round.send(rank_at(channel, place + 1), part(channel, rank_at(channel, of)));
    round.receive(rank_at(channel, place - 1), arrival, part(channel, rank_at(channel, of - 1)));
  }

  // The rank at distance d from the root receives chunk j in round d-1+j and sends it in round d+j.
  void down_the_chain(int channel, int place, int index, Round& round) const {
    const int distance = wrap(place - rings_->position(channel, root_));
    const auto chunk = [&](int j) {
      return j >= 0 && j < world_size() ? part(channel, j) : Range{};
    };
    if (distance < world_size() - 1) {
      round.send(rank_at(channel, place + 1), chunk(index - distance));
    }
    if (distance > 0) {
      round.receive(rank_at(channel, place - 1), Arrival::replaces, chunk(index - distance + 1));
    }
  }

  std::shared_ptr<const RingOrders> rings_;
  int root_;
};

}  // namespace

std::unique_ptr<const Schedule> make_ring_schedule(Operation operation,
                                                   std::shared_ptr<const RingOrders> rings,
                                                   int world_size, Chunking chunking, int root) {
  return std::make_unique<RingSchedule>(operation, std::move(rings), world_size, chunking, root);
}

}  // namespace shardscope
