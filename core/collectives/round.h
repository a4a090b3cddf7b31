// One round of a schedule: the messages a rank sends and receives in it, as data.
//
// A message is a list of ranges of the logical vector. Its receiver names the same ranges. The
// vectors inside are kept from round to round, so that a round that is filled again allocates
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardscope {

/// What becomes of data that arrives: it takes the place of what was there, or is added to it.
enum class Arrival { replaces, is_added };

/// Elements [offset, offset + count) of the logical vector.
struct Range {
  std::size_t offset = 0;
  std::size_t count = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

/// One message; Round::ranges has what it carries.
struct Transfer {
  int peer = 0;
  Arrival arrival = Arrival::replaces;  ///< Of a receive.
  std::size_t first = 0;                ///< Ranges [first, last) of the round.
  std::size_t last = 0;
};

/// All messages of a round go on at once; it ends when all are done. What is received is added or
/// copied in the order listed here, whatever arrives first. No element is sent and received in the
/// same round. Between two ranks the nth send meets the nth receive.
class Round {
 public:
  std::span<const Transfer> sends() const { return sends_; }
  std::span<const Transfer> receives() const { return receives_; }

  /// In the order in which they are sent. None of them is empty; a message without any is a token.
  std::span<const Range> ranges(const Transfer& transfer) const {
    return {ranges_.data() + transfer.first, transfer.last - transfer.first};
  }

  std::uint64_t elements(const Transfer& transfer) const {
    std::uint64_t elements = 0;
    for (const Range& range : ranges(transfer)) {
      elements += range.count;
    }
    return elements;
  }

  void clear() {
    sends_.clear();
    receives_.clear();
    ranges_.clear();
  }

  /// Adds a message, unless there is nothing in it.
  void send(int peer, Range range) {
    send(peer, 1, [&](int /*index*/) { return range; });
  }
  void receive(int peer, Arrival arrival, Range range) {
    receive(peer, arrival, 1, [&](int /*index*/) { return range; });
  }

  /// The same of the ranges range_of(0) .. range_of(count - 1).
  template <typename RangeOf>
  void send(int peer, int count, const RangeOf& range_of) {
    add(sends_, {.peer = peer, .arrival = Arrival::replaces, .first = 0, .last = 0}, count,
        range_of);
  }
  template <typename RangeOf>
  void receive(int peer, Arrival arrival, int count, const RangeOf& range_of) {
    add(receives_, {.peer = peer, .arrival = arrival, .first = 0, .last = 0}, count, range_of);
  }

  /// A message without data.
  void send_token(int peer) { sends_.push_back({.peer = peer}); }
  void receive_token(int peer) { receives_.push_back({.peer = peer}); }

 private:
  template <typename RangeOf>
  void add(std::vector<Transfer>& transfers, Transfer transfer, int count,
           const RangeOf& range_of) {
    transfer.first = ranges_.size();
    for (int i = 0; i < count; ++i) {
      if (const Range range = range_of(i); range.count > 0) {
        ranges_.push_back(range);
      }
    }
    transfer.last = ranges_.size();
    if (transfer.last > transfer.first) {
      transfers.push_back(transfer);
    }
  }

  std::vector<Transfer> sends_;
  std::vector<Transfer> receives_;
  std::vector<Range> ranges_;
};

}  // namespace shardscope
