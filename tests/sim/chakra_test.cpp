// Chakra traces against the format, byte for byte, and against the run they are of.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/chakra/chakra_files.h"
#include "sim/chakra/chakra_writer.h"
#include "sim/chakra/communicator_groups.h"
#include "tests/core/support/small_strategies.h"
#include "tests/sim/chakra_reader.h"
#include "tests/sim/parse_json.h"
#include "tests/sim/simulated.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

using namespace std::string_literals;

using ChakraProtoMsg::Node;

const ChakraAbout kAbout = {.version = "v", .scenario = "s", .strategy = "D"};

Scenario shapes(std::vector<std::size_t> widths, int world_size) {
  TrainingOptions training;
  training.steps = 2;
  training.global_batch = 24;
  training.precision = DType::bf16;
  training.reduce_precision = DType::fp32;
  training.storage = Storage::shape_only;
  return make_scenario(ModelSpec{std::move(widths)}, training, world_size);
}

RunResult run_last_step(const Scenario& scenario, const Strategy& strategy) {
  return run_simulation(scenario, strategy, 1, {.final_step = true});
}

std::vector<const RankRecording*> recordings(const RunResult& run) {
  std::vector<const RankRecording*> ranks;
  for (const RankRecording& rank : run.recordings()) {
    ranks.push_back(&rank);
  }
  return ranks;
}

// Every rank's trace, read back without a fault.
std::vector<ChakraTrace> traces_of(const RunResult& run) {
  const CommunicatorGroups groups(recordings(run));
  std::vector<ChakraTrace> traces;
  std::vector<Fault> faults;
  for (const RankRecording& rank : run.recordings()) {
    traces.push_back(read_chakra("rank", chakra_trace(rank, groups, kAbout), faults));
  }
  for (const Fault& fault : faults) {
    ADD_FAILURE() << format_fault(fault);
  }
  return traces;
}

// A rank's step: a kernel of 2 us, a collective of 3 us that the second kernel waits for.
RankRecording tiny_step() {
  RankRecording step;
  step.set_rank(1);
  step.set_step(5);
  step.set_begin_s(1);
  step.set_end_s(1 + 6e-6);
  const auto add = [&](ComputeOperation::Kind kind, const char* phase, double begin_s,
                       double end_s) -> ComputeOperation& {
    ComputeOperation& operation = *step.add_compute();
    operation.set_kind(kind);
    operation.set_phase(phase);
    operation.set_begin_s(1 + begin_s);
    operation.set_end_s(1 + end_s);
    return operation;
  };
  ComputeOperation& linear = add(ComputeOperation::KERNEL, "forward", 0, 2e-6);
  linear.set_kernel("linear");
  linear.set_layer(3);
  linear.set_flops(2);
  linear.set_bytes(3);
  add(ComputeOperation::ENQUEUE, "backward", 2e-6, 2e-6).set_collective(0);
  add(ComputeOperation::WAIT, "backward", 2e-6, 5e-6).set_collective(0);
  add(ComputeOperation::KERNEL, "optimizer", 5e-6, 6e-6).set_kernel("adam");
  RecordedCollective& collective = *step.add_communication();
  collective.set_name("all_reduce layers.3");
  collective.set_operation("all_reduce");
  collective.set_bytes(8);
  collective.set_chunk_bytes(4);
  collective.set_begin_s(1 + 2e-6);
  collective.set_end_s(1 + 5e-6);
  collective.mutable_group()->set_first(0);
  collective.mutable_group()->set_stride(1);
  collective.mutable_group()->set_size(2);
  return step;
}

std::string tiny_trace() {
  const RankRecording step = tiny_step();
  return chakra_trace(step, CommunicatorGroups({&step, &step}), kAbout);
}

// Each line a field: its key (number x 8 + wire type), then a length or a varint.
const std::string kMetadata =
    "\x4d"  // Bytes that follow.
    "\x0a\x05"
    "0.0.4"
    "\x12\x10\x0a\x0a"
    "shardscope"
    "\xea\x01\x01"
    "v"
    "\x12\x0e\x0a\x08"
    "scenario"
    "\xea\x01\x01"
    "s"
    "\x12\x0e\x0a\x08"
    "strategy"
    "\xea\x01\x01"
    "D"
    "\x12\x08\x0a\x04"
    "rank"
    "\x48\x01"
    "\x12\x08\x0a\x04"
    "step"
    "\x48\x05"s;
const std::string kForward =
    "\x46"
    "\x08\x01"
    "\x12\x10"
    "forward layers.3"
    "\x18\x04"  // COMP_NODE
    "\x38\x02"  // 2 us, from 0 on, which is left out.
    "\x52\x0e\x0a\x09"
    "is_cpu_op"
    "\xd8\x01\x00"
    "\x52\x0b\x0a\x07"
    "num_ops"
    "\x48\x02"
    "\x52\x0f\x0a\x0b"
    "tensor_size"
    "\x68\x03"s;
const std::string kAllReduce =
    "\x4e"
    "\x08\x02"
    "\x12\x13"
    "all_reduce layers.3"
    "\x18\x07"      // COMM_COLL_NODE
    "\x2a\x01\x01"  // After node 1.
    "\x30\x02"
    "\x38\x03"
    "\x52\x0e\x0a\x09"
    "is_cpu_op"
    "\xd8\x01\x00"
    "\x52\x0d\x0a\x09"
    "comm_type"
    "\x48\x00"
    "\x52\x0d\x0a\x09"
    "comm_size"
    "\x48\x08"s;
const std::string kAdam =
    "\x4a"
    "\x08\x03"
    "\x12\x0e"
    "optimizer adam"
    "\x18\x04"
    "\x2a\x02\x01\x02"  // After nodes 1 and 2.
    "\x30\x05"
    "\x38\x01"
    "\x52\x0e\x0a\x09"
    "is_cpu_op"
    "\xd8\x01\x00"
    "\x52\x0b\x0a\x07"
    "num_ops"
    "\x48\x01"  // Of 0.
    "\x52\x0f\x0a\x0b"
    "tensor_size"
    "\x68\x01"s;

TEST(ChakraWriter, WritesTheFormatByteForByte) {
  EXPECT_EQ(tiny_trace(), kMetadata + kForward + kAllReduce + kAdam);
}

// What the nodes of all ranks would put on the wire with rings, by collective; of n ranks in all
// (n-1) S for a vector of S bytes, of an all_reduce twice as much.
std::map<std::int64_t, std::uint64_t> wire_bytes(const std::vector<ChakraTrace>& traces,
                                                 const Json::Value& groups) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> n_times;  // By type and n.
  for (const ChakraTrace& trace : traces) {
    for (const Node& node : trace.nodes) {
      if (node.type() != ChakraProtoMsg::COMM_COLL_NODE) {
        continue;
      }
      const std::string group = pg_name(node);
      const std::uint64_t n = group.empty() ? traces.size() : groups[group].size();
      const auto type = comm_type(node);
      const std::uint64_t vector_bytes = static_cast<std::uint64_t>(comm_size(node)) *
                                         (type == ChakraProtoMsg::ALL_GATHER ? n : 1);
      n_times[{type, n}] += (type == ChakraProtoMsg::ALL_REDUCE ? 2 : 1) * (n - 1) * vector_bytes;
    }
  }
  std::map<std::int64_t, std::uint64_t> bytes;
  for (const auto& [key, value] : n_times) {
    bytes[key.first] += value / key.second;
  }
  return bytes;
}

std::map<std::int64_t, std::uint64_t> wire_bytes(const RunResult& run) {
  return wire_bytes(traces_of(run), parse_json(CommunicatorGroups(recordings(run)).json()));
}

std::uint64_t sum(const std::map<std::int64_t, std::uint64_t>& bytes) {
  std::uint64_t total = 0;
  for (const auto& [type, value] : bytes) {
    total += value;
  }
  return total;
}

struct Sent {
  std::uint64_t measured = 0;
  std::uint64_t predicted = 0;
};

// Of all ranks in the last step, norms and flags of overflow included in what was measured.
Sent sent_bytes(const RunResult& run) {
  Sent sent;
  for (const RankResult& rank : run.ranks()) {
    const RankStep& step = rank.steps(rank.steps_size() - 1);
    sent.measured += step.sent_bytes() + step.control_sent_bytes();
    sent.predicted += step.predicted_sent_bytes();
  }
  return sent;
}

TEST(ChakraTraces, HaveTheBytesOfTheRunAndOfItsClosedForm) {
  for (const int world : {2, 3, 4}) {
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const RunResult run = run_last_step(shapes({16, 32, 16, 8}, world), strategy);
      const std::uint64_t bytes = sum(wire_bytes(run));
      EXPECT_GT(bytes, 0U);
      EXPECT_EQ(bytes, sent_bytes(run).measured);
      EXPECT_EQ(bytes, sent_bytes(run).predicted);
    }
  }
}

TEST(ChakraTraces, HaveTheBytesOfNormsToo) {
  Scenario scenario = shapes({16, 32, 16, 8}, 4);
  scenario.training.clip_norm = 1;
  scenario.training.micro_batches = 2;
  for (const Strategy& strategy : small_strategies()) {
    SCOPED_TRACE(std::string(strategy.name));
    const RunResult run = run_last_step(scenario, strategy);
    EXPECT_EQ(sum(wire_bytes(run)), sent_bytes(run).measured);
  }
}

// 4 ranks share layers of 406, 210 and 24 elements, 640 in all: padded to 408, 212 and 24.
TEST(ChakraTraces, OfThePapersHaveTheirCollectives) {
  using Collectives = std::vector<std::pair<std::string, std::int64_t>>;
  const std::map<std::string, Collectives> expected = {
      {"DDP", {{"all_reduce layers.0-2", 4 * 640}}},
      {"NAIVE_ZERO", {{"all_reduce layers.0-2", 4 * 640}, {"all_gather layers.0-2", 2 * 160}}},
      {"ZERO1", {{"reduce_scatter layers.0-2", 4 * 640}, {"all_gather layers.0-2", 2 * 160}}},
      {"ZERO2",
       {{"reduce_scatter layers.2", 4 * 24},
        {"reduce_scatter layers.1", 4 * 212},
        {"reduce_scatter layers.0", 4 * 408},
        {"all_gather layers.0-2", 2 * (102 + 53 + 6)}}},
      {"ZERO3",
       {{"all_gather layers.0", 2 * 102},
        {"all_gather layers.1", 2 * 53},
        {"all_gather layers.2", 2 * 6},
        {"all_gather layers.2", 2 * 6},
        {"reduce_scatter layers.2", 4 * 24},
        {"all_gather layers.1", 2 * 53},
        {"reduce_scatter layers.1", 4 * 212},
        {"all_gather layers.0", 2 * 102},
        {"reduce_scatter layers.0", 4 * 408}}}};
  for (const auto& [name, collectives] : expected) {
    SCOPED_TRACE(name);
    for (const ChakraTrace& trace :
         traces_of(run_last_step(shapes({13, 29, 7, 3}, 4), *find_strategy(name)))) {
      Collectives found;
      for (const Node& node : trace.nodes) {
        if (node.type() == ChakraProtoMsg::COMM_COLL_NODE) {
          found.emplace_back(node.name(), comm_size(node));
          EXPECT_EQ(pg_name(node), "");
        }
      }
      EXPECT_EQ(found, collectives);
    }
  }
}

TEST(ChakraTraces, NumberGroupsOfRanksAlikeInAllFiles) {
  const RunResult run =
      run_last_step(shapes({16, 32, 16, 8}, 4), small(*find_strategy("FSDP_HYBRID_SHARD")));
  const CommunicatorGroups groups(recordings(run));
  EXPECT_EQ(groups.json(), "{\"1\":[0,1],\"2\":[2,3],\"3\":[0,2],\"4\":[1,3]}\n");
  const std::vector<ChakraTrace> traces = traces_of(run);
  const std::vector<std::pair<std::string, std::string>> inside_and_across = {
      {"1", "3"}, {"1", "4"}, {"2", "3"}, {"2", "4"}};
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    for (const Node& node : traces[rank].nodes) {
      if (node.type() == ChakraProtoMsg::COMM_COLL_NODE) {
        const bool across = comm_type(node) == ChakraProtoMsg::ALL_REDUCE;
        EXPECT_EQ(pg_name(node),
                  across ? inside_and_across[rank].second : inside_and_across[rank].first);
      }
    }
  }
}

TEST(ChakraTraces, OfOneRankHaveKernelsAlone) {
  for (const Strategy& strategy : small_strategies()) {
    for (const ChakraTrace& trace : traces_of(run_last_step(shapes({5, 4, 3}, 1), strategy))) {
      EXPECT_FALSE(trace.nodes.empty());
      for (const Node& node : trace.nodes) {
        EXPECT_EQ(node.type(), ChakraProtoMsg::COMP_NODE) << strategy.name << " " << node.name();
      }
    }
  }
}

// When each node ends if it begins as soon as its dependencies allow, in microseconds; the last of
// its kernels.
double replayed_end(const ChakraTrace& trace) {
  std::map<std::uint64_t, double> ends;
  double last = 0;
  for (const Node& node : trace.nodes) {
    double begin = 0;
    for (const std::uint64_t id : node.data_deps()) {
      begin = std::max(begin, ends.at(id));
    }
    ends[node.id()] = begin + static_cast<double>(node.duration_micros());
    last = node.type() == ChakraProtoMsg::COMP_NODE ? ends[node.id()] : last;
  }
  return last;
}

// When the recorded rank's last kernel ends, in microseconds since the step's begin.
double last_kernel_end(const RankRecording& step) {
  double end_s = 0;
  for (const ComputeOperation& operation : step.compute()) {
    if (operation.kind() == ComputeOperation::KERNEL) {
      end_s = operation.end_s() - step.begin_s();
    }
  }
  return 1e6 * end_s;
}

TEST(ChakraTraces, ReplayedByTheirDependenciesTakeTheTimeOfTheStep) {
  for (const int world : {1, 3, 4}) {
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const RunResult run = run_last_step(shapes({40, 90, 20, 10}, world), strategy);
      const std::vector<ChakraTrace> traces = traces_of(run);
      for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        const RankRecording& step = run.recordings(static_cast<int>(rank));
        // Half a microsecond for each rounding on the way.
        const double slack = 0.5 * static_cast<double>(traces[rank].nodes.size());
        EXPECT_NEAR(replayed_end(traces[rank]), last_kernel_end(step), slack);
      }
    }
  }
}

TEST(ChakraTraces, DependOnWhatWasWaitedForAndOnTheStreams) {
  for (const Strategy& strategy : small_strategies()) {
    SCOPED_TRACE(std::string(strategy.name));
    const RunResult run = run_last_step(shapes({13, 29, 7, 3}, 4), strategy);
    const RankRecording& step = run.recordings(0);
    const ChakraTrace trace = traces_of(run)[0];
    std::map<ChakraProtoMsg::NodeType, std::uint64_t> last;
    std::vector<std::uint64_t> ends;    // By collective.
    std::vector<std::uint64_t> before;  // What the next kernel must name.
    auto node = trace.nodes.begin();
    for (const ComputeOperation& operation : step.compute()) {
      if (operation.kind() == ComputeOperation::WAIT) {
        before.push_back(ends.at(static_cast<std::size_t>(operation.collective())));
        continue;
      }
      ASSERT_NE(node, trace.nodes.end());
      std::vector<std::uint64_t> expected;
      if (operation.kind() == ComputeOperation::KERNEL) {
        expected = std::exchange(before, {});
      } else {
        ends.push_back(node->id());
        if (last.count(ChakraProtoMsg::COMM_COLL_NODE) != 0) {
          expected.push_back(last[ChakraProtoMsg::COMM_COLL_NODE]);
        }
      }
      if (last.count(ChakraProtoMsg::COMP_NODE) != 0) {
        expected.push_back(last[ChakraProtoMsg::COMP_NODE]);
      }
      std::vector<std::uint64_t> found(node->data_deps().begin(), node->data_deps().end());
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(found, expected) << node->name();
      last[node->type()] = node->id();
      ++node;
    }
    EXPECT_EQ(node, trace.nodes.end());
  }
}

TEST(ChakraTraces, DurationsAddUpToTheComputeTime) {
  for (const Strategy& strategy : small_strategies()) {
    SCOPED_TRACE(std::string(strategy.name));
    const RunResult run = run_last_step(shapes({13, 29, 7, 3}, 3), strategy);
    const std::vector<ChakraTrace> traces = traces_of(run);
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      const TimeSplit& time = run.ranks(static_cast<int>(rank)).steps(1).time();
      double micros = 0;
      for (const Node& node : traces[rank].nodes) {
        micros += node.type() == ChakraProtoMsg::COMP_NODE
                      ? static_cast<double>(node.duration_micros())
                      : 0;
      }
      EXPECT_NEAR(micros, 1e6 * (time.forward_s() + time.backward_s() + time.optimizer_s()),
                  0.5 + 1e-6);
    }
  }
}

// 2 rows in out of the product, 2 rows out of bias and activation; x, W, b and y in bf16.
TEST(ChakraTraces, HaveTheRooflineOfKernels) {
  const RunResult run = run_last_step(shapes({16, 32, 16, 8}, 4), *find_strategy("DDP"));
  for (const ChakraTrace& trace : traces_of(run)) {
    ASSERT_FALSE(trace.nodes.empty());
    const Node& node = trace.nodes.front();
    EXPECT_EQ(node.name(), "forward layers.0");
    EXPECT_EQ(find_attribute(node, "num_ops")->int64_val(), 2 * 6 * 16 * 32 + 2 * 6 * 32);
    EXPECT_EQ(find_attribute(node, "tensor_size")->uint64_val(),
              2U * (6 * 16 + 16 * 32 + 32 + 6 * 32));
  }
}

TEST(ChakraTraces, AreTheSameWithRealArithmetic) {
  Scenario scenario = shapes({13, 29, 7, 3}, 3);
  const RunResult planned = run_last_step(scenario, *find_strategy("ZERO3"));
  scenario.training.storage = Storage::real;
  const RunResult real = run_last_step(scenario, *find_strategy("ZERO3"));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(chakra_trace(planned.recordings(rank), CommunicatorGroups({}), kAbout),
              chakra_trace(real.recordings(rank), CommunicatorGroups({}), kAbout));
  }
}

TEST(ChakraFiles, AreOneForEachRankAndOneOfTheGroups) {
  const TemporaryFolder folder;
  const std::string prefix = folder.path("trace");
  const RunResult zero3 = run_last_step(shapes({5, 4, 3}, 3), *find_strategy("ZERO3"));
  const ChakraResult plain = write_chakra(prefix, zero3, kAbout);
  EXPECT_EQ(plain.error, std::nullopt);
  EXPECT_FALSE(plain.has_groups || plain.has_broadcasts);
  EXPECT_EQ(folder.file_count(), 3U);
  EXPECT_EQ(folder.read("trace.2.et"),
            chakra_trace(zero3.recordings(2), CommunicatorGroups({}), kAbout));
  const RunResult hybrid =
      run_last_step(shapes({5, 4, 3}, 4), small(*find_strategy("FSDP_HYBRID_SHARD")));
  EXPECT_TRUE(write_chakra(prefix, hybrid, kAbout).has_groups);
  EXPECT_EQ(folder.file_count(), 5U);
  EXPECT_EQ(folder.read("trace.groups.json"), CommunicatorGroups(recordings(hybrid)).json());
  const RunResult owners =
      run_last_step(shapes({5, 4, 3}, 2), *find_strategy("ZERO_REDUNDANCY_OPTIMIZER"));
  EXPECT_TRUE(write_chakra(prefix, owners, kAbout).has_broadcasts);
}

// As of so many ranks that do the same.
RunResult tiny_run(int world_size) {
  RunResult run;
  run.set_world_size(world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    *run.add_recordings() = tiny_step();
    run.mutable_recordings(rank)->set_rank(rank);
  }
  return run;
}

TEST(ChakraFiles, AreAllWrittenOrNone) {
  const TemporaryFolder folder;
  folder.write("trace.0.et", "old");
  std::filesystem::create_directory(folder.path("trace.3.et"));
  const ChakraResult result = write_chakra(folder.path("trace"), tiny_run(5), kAbout);
  ASSERT_TRUE(result.error.has_value());
  EXPECT_NE(result.error->find("trace.3.et: cannot be written: it is a folder"), std::string::npos);
  EXPECT_EQ(folder.file_count(), 2U);
  EXPECT_EQ(folder.read("trace.0.et"), "old");
}

TEST(ChakraFiles, MayBeMoreThanCanBeOpen) {
  const TemporaryFolder folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 32, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const ChakraResult result = write_chakra(folder.path("trace"), tiny_run(64), kAbout);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(result.error, std::nullopt);
  EXPECT_EQ(folder.file_count(), 64U + 1) << "and that of the groups";
}

std::vector<std::string> faults_of(const std::string& content) {
  std::vector<Fault> faults;
  read_chakra("f", content, faults);
  std::vector<std::string> texts;
  for (const Fault& fault : faults) {
    texts.push_back(format_fault(fault));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(ChakraReader, RefusesAFileThatIsCut) {
  const std::string whole = tiny_trace();
  EXPECT_EQ(faults_of(whole), Texts{});
  EXPECT_EQ(faults_of(""), Texts{"f: byte 0: metadata: missing"});
  const std::vector<std::size_t> begins = {0, kMetadata.size(), kMetadata.size() + kForward.size(),
                                           whole.size() - kAdam.size()};
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), length);
    const std::size_t begin = *std::prev(next);
    EXPECT_EQ(faults_of(whole.substr(0, length)),
              length == begin ? Texts{}
                              : Texts{"f: byte " + std::to_string(begin) +
                                      ": the message is cut off or damaged"})
        << length;
  }
}

// Replaces the one place where it is.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(text.find(from, at + 1), std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST(ChakraReader, RefusesWhatASimulatorWouldTakeAmiss) {
  const std::string at = "f: byte " + std::to_string(kMetadata.size() + kForward.size()) + ": ";
  const auto expect = [&](const std::string& from, const std::string& to, const Texts& faults) {
    EXPECT_EQ(faults_of(kMetadata + kForward + replaced(kAllReduce, from, to)), faults);
  };
  expect("comm_size\x48", "comm_size\x68",  // uint64_val
         {at + "comm_size: not of its type; int64_val"});
  expect("comm_size\x48\x08"s, "comm_size\x48\x00"s, {at + "comm_size: 0; at least 1"});
  expect("comm_size", "comm_sise",
         {at + "comm_size: missing", at + "comm_sise: unknown attribute"});
  expect("comm_size", "comm_type", {at + "comm_type: twice", at + "comm_size: missing"});
  expect("comm_type\x48\x00"s, "comm_type\x48\x09"s,
         {at + "comm_type: 9; ALL_REDUCE (0), ALL_GATHER (2), BROADCAST (5), REDUCE_SCATTER (7)"});
  expect("\x18\x07", "\x18\x01", {at + "type: 1; COMP_NODE (4), COMM_COLL_NODE (7)"});
  expect("\x08\x02", "\x08\x01", {at + "id: 1 is taken"});
  expect("\x2a\x01\x01", "\x2a\x01\x02", {at + "data_deps: 2; ids of nodes before"});
  expect("\xd8\x01\x00"s, "\xd8\x01\x01"s, {at + "is_cpu_op: true; false"});
  expect("\x4e", "\x4f", {at + "the message is cut off or damaged"});
}

}  // namespace
}  // namespace shardscope::testing
