#include "sim/trace/messages.h"

#include <deque>
#include <map>
#include <utility>

#include "core/check.h"
#include "sim/result/result.pb.h"

namespace shardscope {

namespace {

using Ranks = std::vector<const RankRecording*>;

// An operation and which of those begun at once it is.
struct Begun {
  const TransferOperation* operation = nullptr;
  int beside = 0;
};

// Calls visit(rank, peer, begun) for all operations of a kind.
template <typename Visit>
void for_each(const Ranks& ranks, TransferOperation::Kind kind, const Visit& visit) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const RecordedCollective& collective : ranks[rank]->communication()) {
      const TransferOperation* before = nullptr;
      int beside = 0;
      for (const TransferOperation& operation : collective.transfers()) {
        const bool at_once = before != nullptr && before->kind() == operation.kind() &&
                             (operation.kind() == TransferOperation::SEND || operation.at_once());
        beside = at_once ? beside + 1 : 0;
        before = &operation;
        if (operation.kind() == kind) {
          visit(rank, static_cast<std::size_t>(operation.peer()), Begun{&operation, beside});
        }
      }
    }
  }
}

}  // namespace

std::vector<Message> match_messages(const std::vector<const RankRecording*>& ranks) {
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Begun>> receives;
  for_each(ranks, TransferOperation::RECEIVE,
           [&](std::size_t to, std::size_t from, const Begun& receive) {
             receives[{from, to}].push_back(receive);
           });
  std::vector<Message> messages;
  for_each(ranks, TransferOperation::SEND,
           [&](std::size_t from, std::size_t to, const Begun& send) {
             std::deque<Begun>& waiting = receives[{from, to}];
             SHARDSCOPE_CHECK(
                 !waiting.empty() && waiting.front().operation->bytes() == send.operation->bytes(),
                 "a send has no receive");
             messages.push_back({.from = from,
                                 .to = to,
                                 .send = send.operation,
                                 .receive = waiting.front().operation,
                                 .sent_beside = send.beside,
                                 .received_beside = waiting.front().beside});
             waiting.pop_front();
           });
  for (const auto& [ends, waiting] : receives) {
    SHARDSCOPE_CHECK(waiting.empty(), "a receive has no send");
  }
  return messages;
}

}  // namespace shardscope
