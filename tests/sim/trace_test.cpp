// Traces against the trace-event format and against the run they are of.
#include <gtest/gtest.h>
#include <json/json.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/trace/chrome_trace.h"
#include "tests/sim/parse_json.h"
#include "tests/sim/simulated.h"

namespace shardscope::testing {
namespace {

Scenario small(int world_size, std::size_t steps) {
  TrainingOptions training;
  training.steps = steps;
  training.global_batch = 12;
  training.precision = DType::bf16;
  training.reduce_precision = DType::fp32;
  training.storage = Storage::shape_only;
  return make_scenario(ModelSpec{{13, 29, 7, 3}}, training, world_size);
}

std::vector<RunResult> run_all(const Scenario& scenario, const RecordedSteps& recorded) {
  std::vector<RunResult> runs;
  for (const Strategy& strategy : all_strategies()) {
    runs.push_back(run_simulation(scenario, strategy, 1, recorded));
  }
  return runs;
}

using Track = std::pair<int, int>;  // Process and thread.

// What "Trace Event Format" (2016) asks of the event types that are used.
void check_event(const Json::Value& event) {
  SCOPED_TRACE(event.toStyledString());
  ASSERT_TRUE(event["ph"].isString() && event["pid"].isInt() && event["tid"].isInt());
  ASSERT_TRUE(event["name"].isString() && !event["name"].asString().empty());
  const std::string type = event["ph"].asString();
  if (type == "M") {
    const std::set<std::string> names = {"process_name", "process_sort_index", "thread_name",
                                         "thread_sort_index"};
    EXPECT_TRUE(names.count(event["name"].asString()) == 1);
    EXPECT_TRUE(event["args"].isObject() && event["args"].size() == 1);
    return;
  }
  ASSERT_TRUE(event["ts"].isNumeric() && event["ts"].asDouble() >= 0);
  ASSERT_TRUE(event["cat"].isString());
  if (type == "X") {
    EXPECT_TRUE(event["dur"].isNumeric() && event["dur"].asDouble() >= 0);
  } else {
    EXPECT_TRUE(type == "s" || type == "f") << type;
    EXPECT_TRUE(event["id"].isIntegral());
    EXPECT_EQ(type == "f", event["bp"].asString() == "e");
  }
}

// Slices of a track follow one another.
void check_tracks(const Json::Value& events) {
  std::map<Track, std::vector<std::pair<double, double>>> tracks;
  for (const Json::Value& event : events) {
    if (event["ph"] == "X") {
      const double begin = event["ts"].asDouble();
      tracks[{event["pid"].asInt(), event["tid"].asInt()}].emplace_back(
          begin, begin + event["dur"].asDouble());
    }
  }
  for (auto& [track, slices] : tracks) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) {
      EXPECT_GE(slices[i].first, slices[i - 1].second - 1e-6 * slices[i].first)
          << "process " << track.first << ", thread " << track.second << ", slice " << i;
    }
  }
}

// A flow has one begin and one end, each in a slice of a message of the same size.
void check_flows(const Json::Value& events) {
  const auto slice_around = [&](const Json::Value& flow) -> const Json::Value* {
    for (const Json::Value& event : events) {
      const double since = flow["ts"].asDouble() - event["ts"].asDouble();
      if (event["ph"] == "X" && event["pid"] == flow["pid"] && event["tid"] == flow["tid"] &&
          since >= 0 && since <= event["dur"].asDouble() && event["cat"] == "message") {
        return &event;
      }
    }
    return nullptr;
  };
  std::map<Json::UInt64, std::map<std::string, const Json::Value*>> flows;
  for (const Json::Value& event : events) {
    const std::string type = event["ph"].asString();
    if (type == "s" || type == "f") {
      EXPECT_TRUE(flows[event["id"].asUInt64()].emplace(type, &event).second);
    }
  }
  EXPECT_FALSE(flows.empty());
  for (const auto& [id, ends] : flows) {
    ASSERT_EQ(ends.size(), 2U) << "flow " << id;
    const Json::Value* from = slice_around(*ends.at("s"));
    const Json::Value* to = slice_around(*ends.at("f"));
    ASSERT_TRUE(from != nullptr && to != nullptr) << "flow " << id;
    EXPECT_LE(ends.at("s")->get("ts", 0).asDouble(), ends.at("f")->get("ts", 0).asDouble());
  }
}

TEST(ChromeTrace, FollowsTheFormat) {
  const std::vector<RunResult> runs = run_all(small(3, 2), {.first = 1, .last = 2});
  const ChromeTrace trace = chrome_trace("a \"name\"", "1.0", runs, 1, 2);
  EXPECT_EQ(trace.cut, "");
  const Json::Value root = parse_json(trace.text);
  EXPECT_EQ(root["otherData"]["scenario"], "a \"name\"");
  EXPECT_FALSE(root["otherData"].isMember("cut"));
  const Json::Value& events = root["traceEvents"];
  for (const Json::Value& event : events) {
    check_event(event);
  }
  check_tracks(events);
}

// The names of the slices of a thread of rank 0, in their order.
std::vector<std::string> names_of(const Json::Value& events, int thread) {
  std::vector<std::string> names;
  for (const Json::Value& event : events) {
    if (event["ph"] == "X" && event["pid"] == 0 && event["tid"] == thread) {
      names.push_back(event["name"].asString());
    }
  }
  return names;
}

TEST(ChromeTrace, TellsPrefetchesRecomputationAndMicroStepsApart) {
  Scenario scenario = small(3, 1);
  scenario.training.micro_batches = 2;
  scenario.training.activation_checkpointing = 1;
  const RunResult run =
      run_simulation(scenario, *find_strategy("FSDP_FULL_SHARD"), 1, {.first = 1, .last = 1});
  const Json::Value events = parse_json(chrome_trace("", "", {run}, 1, 1).text)["traceEvents"];
  const std::vector<std::string> communication = names_of(events, 1);
  ASSERT_GE(communication.size(), 3U);
  EXPECT_EQ(communication[0], "all_gather layers.0");
  EXPECT_EQ(communication[1], "prefetch layers.1");
  EXPECT_EQ(communication[2], "prefetch layers.2");
  const std::vector<std::string> compute = names_of(events, 0);
  EXPECT_NE(std::find(compute.begin(), compute.end(), "recompute layers.1"), compute.end());
  EXPECT_NE(std::find(compute.begin(), compute.end(), "wait prefetch layers.1"), compute.end());
  std::map<std::string, std::set<int>> micro_steps;
  for (const Json::Value& event : events) {
    if (event["args"].isMember("micro_step")) {
      micro_steps[event["name"].asString()].insert(event["args"]["micro_step"].asInt());
    }
  }
  EXPECT_EQ(micro_steps.at("forward layers.0"), (std::set<int>{1, 2}));
  EXPECT_EQ(micro_steps.at("reduce_scatter layers.0"), (std::set<int>{1, 2}));
  EXPECT_EQ(micro_steps.count("optimizer adam"), 0U);
}

TEST(ChromeTrace, NamesBucketsByTheirLayers) {
  Strategy strategy = *find_strategy("TORCH_DDP");
  strategy.reduction.buckets.first_bytes = 4;
  strategy.reduction.buckets.bytes = 500;
  const RunResult run = run_simulation(small(3, 1), strategy, 1, {.first = 1, .last = 1});
  const Json::Value events = parse_json(chrome_trace("", "", {run}, 1, 1).text)["traceEvents"];
  EXPECT_EQ(names_of(events, 1),
            (std::vector<std::string>{"all_reduce layers.2", "all_reduce layers.0-2",
                                      "all_reduce layers.0"}));
}

TEST(ChromeTrace, LeadsFromEachSendToItsReceive) {
  const std::vector<RunResult> runs = {
      run_simulation(small(3, 1), *find_strategy("ZERO2"), 1, {.first = 1, .last = 1})};
  const Json::Value events = parse_json(chrome_trace("", "", runs, 1, 1).text)["traceEvents"];
  check_flows(events);
  Json::UInt64 sent = 0;
  for (const Json::Value& event : events) {
    sent +=
        event["name"].asString().rfind("send to", 0) == 0 ? event["args"]["bytes"].asUInt64() : 0;
  }
  Json::UInt64 expected = 0;
  for (const RankResult& rank : runs[0].ranks()) {
    expected += rank.steps(0).sent_bytes();
  }
  EXPECT_EQ(sent, expected);
}

// Durations in microseconds by process, thread and category.
using Durations = std::map<std::tuple<int, int, std::string>, double>;

TEST(ChromeTrace, AddsUpToThePhasesOfTheReport) {
  for (const int world : {1, 2, 5}) {
    Scenario scenario = small(world, 3);
    scenario.training.global_batch = 10;
    const std::vector<RunResult> runs = run_all(scenario, {.first = 2, .last = 2});
    const Json::Value events = parse_json(chrome_trace("", "", runs, 2, 2).text)["traceEvents"];
    Durations durations;
    for (const Json::Value& event : events) {
      if (event["ph"] == "X") {
        durations[{event["pid"].asInt(), event["tid"].asInt(), event["cat"].asString()}] +=
            event["dur"].asDouble();
      }
    }
    int process = 0;
    for (const RunResult& run : runs) {
      for (const RankResult& rank : run.ranks()) {
        SCOPED_TRACE(run.strategy() + ", rank " + std::to_string(rank.rank()) + " of " +
                     std::to_string(world));
        const TimeSplit& time = rank.steps(1).time();
        const auto expect = [&](int thread, const char* category, double seconds) {
          EXPECT_NEAR((durations[{process, thread, category}]), 1e6 * seconds, 1e-6 * seconds * 1e6)
              << category;
        };
        expect(0, "forward", time.forward_s());
        expect(0, "backward", time.backward_s());
        expect(0, "optimizer", time.optimizer_s());
        expect(0, "exposed_communication", time.exposed_communication_s());
        expect(1, "collective", time.busy_communication_s());
        ++process;
      }
    }
  }
}

TEST(ChromeTrace, NamesEventsLikeTheCode) {
  const std::vector<RunResult> runs = {
      run_simulation(small(2, 1), *find_strategy("ZERO3"), 1, {.first = 1, .last = 1})};
  std::set<std::string> names;
  const Json::Value root = parse_json(chrome_trace("", "", runs, 1, 1).text);
  for (const Json::Value& event : root["traceEvents"]) {
    names.insert(event["name"].asString());
  }
  for (const char* name : {"forward layers.0", "forward loss", "backward layers.1 parameters",
                           "backward layers.1 input", "backward average", "optimizer adam",
                           "all_gather layers.2", "reduce_scatter layers.0",
                           "wait all_gather layers.2", "send to rank 1", "receive from rank 0"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(ChromeTrace, SaysWhatItLeavesOut) {
  const std::vector<RunResult> runs = {
      run_simulation(small(2, 4), *find_strategy("DDP"), 1, {.first = 1, .last = 4})};
  const auto count = [&](std::size_t most) {
    const ChromeTrace trace = chrome_trace("", "", runs, 1, 4, most);
    const Json::Value root = parse_json(trace.text);
    EXPECT_LE(root["traceEvents"].size(), most);
    EXPECT_EQ(root["otherData"].get("cut", "").asString(), trace.cut);
    return std::pair(root["traceEvents"].size(), trace.cut);
  };
  const auto [all, nothing] = count(100'000);
  EXPECT_EQ(nothing, "");
  EXPECT_EQ(count(all - 1).second, "DDP: step 4");
  EXPECT_EQ(count(30).second, "DDP: steps 1..4");
}

TEST(ChromeTrace, SaysOnceWhatSeveralStrategiesLack) {
  Scenario scenario = small(2, 4);
  const std::vector<RunResult> messages = run_all(scenario, {.first = 1, .last = 4});
  std::string all;
  for (const RunResult& run : messages) {
    all += (all.empty() ? "" : ", ") + run.strategy();
  }
  EXPECT_EQ(chrome_trace("", "", messages, 1, 4, 0).cut, all + ": steps 1..4");
  EXPECT_EQ(chrome_trace("", "", messages, 1, 4).flows, "");

  scenario.cluster.collective.fidelity = Fidelity::flow;
  const ChromeTrace trace = chrome_trace("", "", run_all(scenario, {.first = 1, .last = 4}), 1, 4);
  EXPECT_EQ(trace.cut, "");
  EXPECT_EQ(trace.flows, all);
  EXPECT_EQ(parse_json(trace.text)["otherData"]["flows"], all);
}

// Three layers are counted as 24 kernels, the all_reduce has 4 rounds, the all_gather 2.
TEST(Recording, LeavesOutTheMessagesOfCollectivesThatHaveTooMany) {
  const RunResult run = run_simulation(small(3, 1), *find_strategy("NAIVE_ZERO"), 1,
                                       {.first = 1, .last = 1, .budget = 3 * (24 + 4 + 1)});
  ASSERT_EQ(run.recordings_size(), 3);
  for (const RankRecording& rank : run.recordings()) {
    ASSERT_EQ(rank.communication_size(), 2);
    EXPECT_FALSE(rank.communication(0).transfers_cut());
    EXPECT_TRUE(rank.communication(1).transfers_cut());
    EXPECT_EQ(rank.communication(1).transfers_size(), 0);
    EXPECT_GT(rank.communication(1).end_s(), rank.communication(1).begin_s());
  }
  EXPECT_EQ(chrome_trace("", "", {run}, 1, 1).cut, "NAIVE_ZERO: messages of step 1");
}

TEST(Recording, LeavesOutWhatComesAfterItsBudget) {
  const std::int64_t step = 24 + 4 + 2;
  const RunResult run =
      run_simulation(small(3, 5), *find_strategy("NAIVE_ZERO"), 1,
                     {.first = 1, .last = 4, .final_step = true, .budget = 3 * 2 * step});
  std::vector<std::int64_t> steps;
  for (int i = 0; i < run.recordings_size(); i += 3) {
    steps.push_back(run.recordings(i).step());
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 5})) << "the final step has its own budget";
  EXPECT_EQ(chrome_trace("", "", {run}, 1, 4).cut, "NAIVE_ZERO: steps 3..4");
}

}  // namespace
}  // namespace shardscope::testing
