#include "sim/trace/chrome_trace.h"

#include <json/json.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "sim/result/result.pb.h"
#include "sim/trace/messages.h"
#include "sim/trace/operation_names.h"

namespace shardscope {
namespace {

enum Thread { kCompute, kCommunication, kSends, kReceives, kThreads };

constexpr const char* kThreadNames[kThreads] = {"compute", "communication", "sends", "receives"};

using Step = std::vector<const RankRecording*>;  // By rank.

class TraceWriter {
 public:
  TraceWriter() {
    Json::StreamWriterBuilder builder;
    builder["indentation"] = "";
    builder["precision"] = 15;
    writer_.reset(builder.newStreamWriter());
  }

  void add(const Json::Value& event) {
    out_ << (events_ == 0 ? "\n" : ",\n");
    writer_->write(event, &out_);
    ++events_;
  }

  std::size_t events() const { return events_; }

  std::string finish(const Json::Value& about) {
    std::ostringstream text;
    text << "{\"displayTimeUnit\":\"ns\",\"otherData\":";
    writer_->write(about, &text);
    text << ",\"traceEvents\":[" << out_.str() << "\n]}\n";
    return std::move(text).str();
  }

 private:
  std::unique_ptr<Json::StreamWriter> writer_;
  std::ostringstream out_;
  std::size_t events_ = 0;
};

Json::Value event(const char* type, int process, int thread) {
  Json::Value value;
  value["ph"] = type;
  value["pid"] = process;
  value["tid"] = thread;
  return value;
}

// A slice from begin to end.
Json::Value slice(int process, int thread, const std::string& name, const std::string& category,
                  double begin_s, double end_s) {
  Json::Value value = event("X", process, thread);
  value["name"] = name;
  value["cat"] = category;
  value["ts"] = 1e6 * begin_s;
  value["dur"] = 1e6 * (end_s - begin_s);
  return value;
}

Json::Value metadata(const char* name, int process, int thread, const char* key,
                     const Json::Value& argument) {
  Json::Value value = event("M", process, thread);
  value["name"] = name;
  value["args"][key] = argument;
  return value;
}

void add_names(const std::string& strategy, int rank, int process, TraceWriter& trace) {
  trace.add(
      metadata("process_name", process, 0, "name", strategy + " rank " + std::to_string(rank)));
  trace.add(metadata("process_sort_index", process, 0, "sort_index", process));
  for (int thread = 0; thread < kThreads; ++thread) {
    trace.add(metadata("thread_name", process, thread, "name", kThreadNames[thread]));
    trace.add(metadata("thread_sort_index", process, thread, "sort_index", thread));
  }
}

void add_compute(const RankRecording& step, int process, TraceWriter& trace) {
  for (const ComputeOperation& operation : step.compute()) {
    if (operation.kind() == ComputeOperation::ENQUEUE) {
      continue;
    }
    const bool waits = operation.kind() == ComputeOperation::WAIT;
    Json::Value value = slice(process, kCompute, operation_name(step, operation),
                              waits ? "exposed_communication" : operation.phase(),
                              operation.begin_s(), operation.end_s());
    value["args"]["step"] = Json::Int64{step.step()};
    if (operation.has_micro_step()) {
      value["args"]["micro_step"] = operation.micro_step();
    }
    if (waits) {
      value["args"]["phase"] = operation.phase();
    } else {
      value["args"]["kernel"] = operation.kernel();
      value["args"]["flops"] = operation.flops();
      value["args"]["bytes"] = operation.bytes();
    }
    trace.add(value);
  }
}

void add_collectives(const RankRecording& step, int process, TraceWriter& trace) {
  for (const RecordedCollective& collective : step.communication()) {
    Json::UInt64 sent = 0;
    Json::UInt64 received = 0;
    for (const TransferOperation& operation : collective.transfers()) {
      sent += operation.kind() == TransferOperation::SEND ? operation.bytes() : 0;
      received += operation.kind() == TransferOperation::RECEIVE ? operation.bytes() : 0;
    }
    Json::Value value = slice(process, kCommunication, collective_name(collective), "collective",
                              collective.begin_s(), collective.end_s());
    value["args"]["step"] = Json::Int64{step.step()};
    value["args"]["phase"] = collective.phase();
    if (collective.has_micro_step()) {
      value["args"]["micro_step"] = collective.micro_step();
    }
    if (!collective.transfers_cut()) {
      value["args"]["sent_bytes"] = sent;
      value["args"]["received_bytes"] = received;
    }
    trace.add(value);
  }
}

// Messages that go at once have tracks of their own, after the others.
int track_of(Thread thread, int beside) {
  return beside == 0 ? thread : kThreads + 2 * (beside - 1) + (thread == kSends ? 0 : 1);
}

// The tracks that a process needs beyond the first, by process and thread, as they are met.
using MoreTracks = std::set<std::pair<int, int>>;

void add_name(int process, Thread thread, int beside, MoreTracks& named, TraceWriter& trace) {
  const int track = track_of(thread, beside);
  if (beside == 0 || !named.emplace(process, track).second) {
    return;
  }
  trace.add(metadata("thread_name", process, track, "name",
                     kThreadNames[thread] + (" " + std::to_string(beside + 1))));
  trace.add(metadata("thread_sort_index", process, track, "sort_index", track));
}

// A send lasts until its last byte has left, a receive until the message is there.
void add_messages(const Step& step, int first_process, std::size_t& flows, MoreTracks& named,
                  TraceWriter& trace) {
  for (const Message& message : match_messages(step)) {
    const int from = static_cast<int>(message.from);
    const int to = static_cast<int>(message.to);
    const Json::UInt64 bytes = message.send->bytes();
    add_name(first_process + from, kSends, message.sent_beside, named, trace);
    add_name(first_process + to, kReceives, message.received_beside, named, trace);
    const int sends = track_of(kSends, message.sent_beside);
    const int receives = track_of(kReceives, message.received_beside);
    const auto add = [&](int rank, int thread, const std::string& name, int peer, double begin_s,
                         double end_s) {
      Json::Value value = slice(first_process + rank, thread, name, "message", begin_s, end_s);
      value["args"]["bytes"] = bytes;
      value["args"]["peer"] = peer;
      trace.add(value);
    };
    add(from, sends, "send to rank " + std::to_string(to), to, message.send->begin_s(),
        message.receive->left_s());
    add(to, receives, "receive from rank " + std::to_string(from), from, message.receive->begin_s(),
        message.receive->end_s());
    const auto add_flow = [&](const char* type, int rank, int thread, double at_s) {
      Json::Value value = event(type, first_process + rank, thread);
      value["name"] = "message";
      value["cat"] = "message";
      value["id"] = Json::UInt64{flows};
      value["ts"] = 1e6 * at_s;
      if (*type == 'f') {
        value["bp"] = "e";  // To the slice around it, not to the next one.
      }
      trace.add(value);
    };
    add_flow("s", from, sends, message.send->begin_s());
    // When the transfer begins, because a flow ends in the slice that is open at its time.
    add_flow("f", to, receives, std::max(message.send->begin_s(), message.receive->begin_s()));
    ++flows;
  }
}

// At most so many events has a step.
std::size_t event_count(const Step& step) {
  std::size_t count = 0;
  for (const RankRecording* rank : step) {
    count += static_cast<std::size_t>(rank->compute_size() + rank->communication_size());
    for (const RecordedCollective& collective : rank->communication()) {
      count += 2 * static_cast<std::size_t>(collective.transfers_size());
    }
  }
  return count;
}

// The recordings by step, of those asked for.
std::vector<Step> steps_of(const RunResult& run, std::int64_t first, std::int64_t last) {
  std::vector<Step> steps;
  for (const RankRecording& recording : run.recordings()) {
    if (recording.step() < first || recording.step() > last) {
      continue;
    }
    if (recording.rank() == 0) {
      steps.emplace_back();
    }
    steps.back().push_back(&recording);
  }
  return steps;
}

bool any_collective(const Step& step, bool (*is_so)(const RecordedCollective&)) {
  const auto& all = step.front()->communication();
  return std::any_of(all.begin(), all.end(), is_so);
}

bool lacks_messages(const RecordedCollective& collective) {
  return collective.transfers_cut() && !collective.as_flow();
}

std::string steps_text(std::int64_t first, std::int64_t last) {
  return first == last ? "step " + std::to_string(first)
                       : "steps " + std::to_string(first) + ".." + std::to_string(last);
}

// What the trace does not have, by strategy.
class Omissions {
 public:
  // Strategies and steps come one after another.
  void leave_out(const std::string& strategy, const std::string& what, std::int64_t first,
                 std::int64_t last) {
    if (all_.empty() || all_.back().first != strategy) {
      all_.emplace_back(strategy, Lacking());
    }
    std::vector<Range>& ranges = all_.back().second[what];
    if (!ranges.empty() && ranges.back().last + 1 == first) {
      ranges.back().last = last;
    } else {
      ranges.push_back({first, last});
    }
  }

  void note_flows(const std::string& strategy) {
    flows_ += (flows_.empty() ? "" : ", ") + strategy;
  }

  // Strategies that lack the same together, in the order of the first of them.
  std::string cut() const {
    std::vector<std::pair<std::string, std::string>> by_text;  // Text, strategies.
    for (const auto& [strategy, lacking] : all_) {
      const std::string text = text_of(lacking);
      const auto same = std::find_if(by_text.begin(), by_text.end(),
                                     [&](const auto& other) { return other.first == text; });
      if (same == by_text.end()) {
        by_text.emplace_back(text, strategy);
      } else {
        same->second += ", " + strategy;
      }
    }
    std::string all;
    for (const auto& [text, strategies] : by_text) {
      all += (all.empty() ? "" : "; ") + strategies + ": " + text;
    }
    return all;
  }

  const std::string& flows() const { return flows_; }

 private:
  struct Range {
    std::int64_t first;
    std::int64_t last;
  };
  using Lacking = std::map<std::string, std::vector<Range>>;

  static std::string text_of(const Lacking& lacking) {
    std::string text;
    for (const auto& [what, ranges] : lacking) {
      for (const Range& range : ranges) {
        text += (text.empty() ? "" : ", ") + what + steps_text(range.first, range.last);
      }
    }
    return text;
  }

  std::vector<std::pair<std::string, Lacking>> all_;
  std::string flows_;
};

}  // namespace

ChromeTrace chrome_trace(const std::string& scenario, const std::string& version,
                         const std::vector<RunResult>& runs, std::int64_t first_step,
                         std::int64_t last_step, std::size_t most_events) {
  TraceWriter trace;
  Omissions omissions;
  std::size_t flows = 0;
  MoreTracks named;
  int first_process = 0;
  for (const RunResult& run : runs) {
    const std::vector<Step> steps = steps_of(run, first_step, last_step);
    for (int rank = 0; rank < run.world_size() && !steps.empty(); ++rank) {
      add_names(run.strategy(), rank, first_process + rank, trace);
    }
    const bool has_flows = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
      return any_collective(step, [](const auto& collective) { return collective.as_flow(); });
    });
    if (has_flows) {
      omissions.note_flows(run.strategy());
    }
    std::int64_t written = first_step - 1;
    for (const Step& step : steps) {
      if (trace.events() + event_count(step) > most_events) {
        break;
      }
      for (std::size_t rank = 0; rank < step.size(); ++rank) {
        const int process = first_process + static_cast<int>(rank);
        add_compute(*step[rank], process, trace);
        add_collectives(*step[rank], process, trace);
      }
      if (any_collective(step, lacks_messages)) {
        omissions.leave_out(run.strategy(), "messages of ", step.front()->step(),
                            step.front()->step());
      }
      add_messages(step, first_process, flows, named, trace);
      written = step.front()->step();
    }
    if (run.outcome() == "completed" && written < last_step) {
      omissions.leave_out(run.strategy(), "", written + 1, last_step);
    }
    first_process += run.world_size();
  }
  Json::Value about;
  about["scenario"] = scenario;
  about["shardscope"] = version;
  about["times"] = "simulated";
  const std::string cut = omissions.cut();
  if (!cut.empty()) {
    about["cut"] = cut;
  }
  if (!omissions.flows().empty()) {
    about["flows"] = omissions.flows();
  }
  return {trace.finish(about), cut, omissions.flows()};
}

}  // namespace shardscope
