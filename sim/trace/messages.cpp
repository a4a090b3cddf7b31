#include "sim/trace/messages.h"

#include <deque>
#include <map>
#include <utility>

#include "core/check.h"
#include "sim/result/result.pb.h"

namespace shardscope {

std::vector<Message> match_messages(const std::vector<const RankRecording*>& ranks) {
  std::map<std::pair<std::size_t, std::size_t>, std::deque<const TransferOperation*>> receives;
  const auto for_each = [&](TransferOperation::Kind kind, const auto& visit) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (const RecordedCollective& collective : ranks[rank]->communication()) {
        for (const TransferOperation& operation : collective.transfers()) {
          if (operation.kind() == kind) {
            visit(rank, static_cast<std::size_t>(operation.peer()), operation);
          }
        }
      }
    }
  };
  for_each(TransferOperation::RECEIVE, [&](std::size_t to, std::size_t from, const auto& receive) {
    receives[{from, to}].push_back(&receive);
  });
  std::vector<Message> messages;
  for_each(TransferOperation::SEND, [&](std::size_t from, std::size_t to, const auto& send) {
    std::deque<const TransferOperation*>& waiting = receives[{from, to}];
    SHARDSCOPE_CHECK(!waiting.empty() && waiting.front()->bytes() == send.bytes(),
                     "a send has no receive");
    messages.push_back({from, to, &send, waiting.front()});
    waiting.pop_front();
  });
  for (const auto& [ends, waiting] : receives) {
    SHARDSCOPE_CHECK(waiting.empty(), "a receive has no send");
  }
  return messages;
}

}  // namespace shardscope
