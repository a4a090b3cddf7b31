// Which receive takes which send: between two ranks, the nth takes the nth.
#pragma once

#include <cstddef>
#include <vector>

namespace shardscope {

class RankRecording;
class TransferOperation;

struct Message {
  std::size_t from = 0;  ///< Ranks, as indices into the recordings.
  std::size_t to = 0;
  const TransferOperation* send = nullptr;
  const TransferOperation* receive = nullptr;

  /// Which of those it is that the sender sends at once, and the receiver receives; from 0.
  int sent_beside = 0;
  int received_beside = 0;
};

/// All messages of one step, given by the recordings of all its ranks, rank 0 first; ordered by
/// sender. Aborts if sends and receives do not match.
std::vector<Message> match_messages(const std::vector<const RankRecording*>& ranks);

}  // namespace shardscope
