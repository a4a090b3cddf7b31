#include "sim/chakra/communicator_groups.h"

#include <json/json.h>

#include "sim/result/result.pb.h"

namespace shardscope {

CommunicatorGroups::CommunicatorGroups(const std::vector<const RankRecording*>& ranks) {
  for (const RankRecording* rank : ranks) {
    for (const RecordedCollective& collective : rank->communication()) {
      const auto size = static_cast<std::size_t>(collective.group().size());
      if (1 < size && size < ranks.size()) {
        numbers_.emplace(key(collective.group()), 0);
      }
    }
  }
  int last = 0;
  for (auto& [key, number] : numbers_) {
    number = ++last;
  }
}

int CommunicatorGroups::number(const RecordedGroup& group) const {
  const auto found = numbers_.find(key(group));
  return found == numbers_.end() ? 0 : found->second;
}

std::string CommunicatorGroups::json() const {
  Json::Value root(Json::objectValue);
  for (const auto& [key, number] : numbers_) {
    const auto [stride, first, size] = key;
    Json::Value& members = root[std::to_string(number)];
    for (int i = 0; i < size; ++i) {
      members.append(first + i * stride);
    }
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  return Json::writeString(builder, root) + "\n";
}

CommunicatorGroups::Key CommunicatorGroups::key(const RecordedGroup& group) {
  return {group.stride(), group.first(), group.size()};
}

}  // namespace shardscope
