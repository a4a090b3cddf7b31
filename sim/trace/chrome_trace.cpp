#include "sim/trace/chrome_trace.h"

#include <json/json.h>

#include <algorithm>
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

bool lacks_messages(const Step& step) {
  for (const RecordedCollective& collective : step.front()->communication()) {
    if (collective.transfers_cut()) {
      return true;
    }
  }
  return false;
}

}  // namespace

ChromeTrace chrome_trace(const std::string& scenario, const std::string& version,
                         const std::vector<RunResult>& runs, std::int64_t first_step,
                         std::int64_t last_step, std::size_t most_events) {
  TraceWriter trace;
  std::string cut;
  std::size_t flows = 0;
  MoreTracks named;
  int first_process = 0;
  for (const RunResult& run : runs) {
    const std::vector<Step> steps = steps_of(run, first_step, last_step);
    for (int rank = 0; rank < run.world_size() && !steps.empty(); ++rank) {
      add_names(run.strategy(), rank, first_process + rank, trace);
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
      if (lacks_messages(step)) {
        cut += (cut.empty() ? "" : "; ") + run.strategy() + ": messages of step " +
               std::to_string(step.front()->step()) + " are left out, or were not simulated";
      }
      add_messages(step, first_process, flows, named, trace);
      written = step.front()->step();
    }
    if (run.outcome() == "completed" && written < last_step) {
      cut += (cut.empty() ? "" : "; ") + run.strategy() + ": steps " + std::to_string(written + 1) +
             ".." + std::to_string(last_step) + " are left out";
    }
    first_process += run.world_size();
  }
  Json::Value about;
  about["scenario"] = scenario;
  about["shardscope"] = version;
  about["times"] = "simulated";
  if (!cut.empty()) {
    about["cut"] = cut;
  }
  return {trace.finish(about), cut};
}

}  // namespace shardscope
