#include "sim/html/timelines.h"

#include <json/json.h>

#include <algorithm>

#include "sim/result/result.pb.h"
#include "sim/trace/operation_names.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostRanks = 64;
constexpr Json::ArrayIndex kMostEvents = 20'000;

Json::Value event(const RankRecording& step, const char* stream, const std::string& name,
                  const std::string& phase, int micro_step, double begin_s, double end_s) {
  Json::Value value;
  value["rank"] = step.rank();
  value["stream"] = stream;
  value["name"] = name;
  value["phase"] = phase;
  if (micro_step > 0) {
    value["micro_step"] = micro_step;
  }
  value["begin_s"] = begin_s;
  value["end_s"] = end_s;
  return value;
}

void add_rank(const RankRecording& step, double begin_s, Json::Value& events) {
  for (const ComputeOperation& operation : step.compute()) {
    if (operation.kind() != ComputeOperation::KERNEL) {
      continue;
    }
    Json::Value value =
        event(step, "compute", operation_name(step, operation), operation.phase(),
              operation.micro_step(), operation.begin_s() - begin_s, operation.end_s() - begin_s);
    value["flops"] = operation.flops();
    value["bytes"] = operation.bytes();
    events.append(std::move(value));
  }
  for (const RecordedCollective& collective : step.communication()) {
    Json::Value value = event(step, "communication", collective_name(collective), "communication",
                              collective.micro_step(), collective.begin_s() - begin_s,
                              collective.end_s() - begin_s);
    if (!collective.transfers_cut()) {
      Json::UInt64 bytes = 0;
      for (const TransferOperation& operation : collective.transfers()) {
        bytes += operation.kind() == TransferOperation::SEND ? operation.bytes() : 0;
      }
      value["bytes"] = bytes;
    }
    events.append(std::move(value));
  }
}

Json::Value timeline(const RunResult& run) {
  const int first = run.recordings_size() - run.world_size();
  double begin_s = run.recordings(first).begin_s();
  for (int i = first; i < run.recordings_size(); ++i) {
    begin_s = std::min(begin_s, run.recordings(i).begin_s());
  }
  Json::Value value;
  value["strategy"] = run.strategy();
  value["step"] = Json::Int64{run.recordings(first).step()};
  Json::Value& events = value["events"] = Json::arrayValue;
  const std::size_t ranks = std::min(static_cast<std::size_t>(run.world_size()), kMostRanks);
  for (std::size_t rank = 0; rank < ranks && events.size() < kMostEvents; ++rank) {
    add_rank(run.recordings(first + static_cast<int>(rank)), begin_s, events);
  }
  return value;
}

}  // namespace

Json::Value timelines_value(const std::vector<RunResult>& runs) {
  Json::Value timelines(Json::arrayValue);
  for (const RunResult& run : runs) {
    if (run.recordings_size() >= run.world_size() && run.world_size() > 0) {
      timelines.append(timeline(run));
    }
  }
  return timelines;
}

}  // namespace shardscope
