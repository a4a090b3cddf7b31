// `run --chakra`: what is on disk afterwards, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/sim/chakra_reader.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

class Chakra : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", small, "--quiet", "--chakra", prefix});
    return run_program(more);
  }

  // Refused in words that include these, with nothing written.
  void expect_refused(const std::vector<std::string>& more,
                      const std::vector<std::string>& words) const {
    const std::size_t files = folder.file_count();
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " is not in:\n"
                                                           << outcome.err;
    }
    EXPECT_EQ(folder.file_count(), files);
  }

  const TemporaryFolder folder;
  const std::string small = folder.write("small.textproto", kSmallScenario);
  const std::string prefix = folder.path("trace");
};

// Layers of 70 and 44 parameters in bf16 on 4 ranks: shards of 18 and 11.
TEST_F(Chakra, WritesTheLastStepOfEachRank) {
  const Outcome outcome = run({"--strategy", "ZERO3", "--set", "training.arithmetic=NONE"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(folder.file_count(), 1U + 4U);
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = "trace." + std::to_string(rank) + ".et";
    std::vector<Fault> faults;
    const ChakraTrace trace = read_chakra(name, folder.read(name), faults);
    EXPECT_TRUE(faults.empty()) << format_fault(faults.front());
    ASSERT_EQ(trace.metadata.attr_size(), 5);
    EXPECT_EQ(trace.metadata.attr(2).string_val(), "ZERO3");
    EXPECT_EQ(trace.metadata.attr(3).int64_val(), rank);
    EXPECT_EQ(trace.metadata.attr(4).int64_val(), 3);
    std::int64_t gathered = 0;
    std::int64_t reduced = 0;
    for (const ChakraProtoMsg::Node& node : trace.nodes) {
      if (node.type() == ChakraProtoMsg::COMM_COLL_NODE) {
        (comm_type(node) == ChakraProtoMsg::ALL_GATHER ? gathered : reduced) += comm_size(node);
      }
    }
    EXPECT_EQ(gathered, 2 * 2 * (18 + 11)) << "in forward and backward";
    EXPECT_EQ(reduced, 2 * 4 * (18 + 11));
  }
}

TEST_F(Chakra, SaysWhatASimulatorMustBeGivenOrCannotDo) {
  const Outcome groups =
      run({"--strategy", "FSDP_HYBRID_SHARD", "--set", "options.shard_group_size=2"});
  EXPECT_EQ(groups.exit_code, 0);
  EXPECT_NE(groups.err.find(prefix + ".groups.json is ASTRA-sim's --comm-group-configuration"),
            std::string::npos)
      << groups.err;
  EXPECT_EQ(parse_json(folder.read("trace.groups.json"))["1"].size(), 2U);
  const Outcome owners = run({"--strategy", "ZERO_REDUNDANCY_OPTIMIZER"});
  EXPECT_EQ(owners.exit_code, 0);
  EXPECT_NE(owners.err.find("broadcasts, which ASTRA-sim does not simulate"), std::string::npos);
}

TEST_F(Chakra, ARunThatDoesNotCompleteHasNone) {
  const Outcome outcome = run({"--strategy", "DDP", "--set", "cluster.device.memory=1kB"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("no Chakra trace: DDP did not complete"), std::string::npos);
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST_F(Chakra, IsRefusedBeforeTheRun) {
  expect_refused({}, {"--chakra: a trace is of one strategy and this run has 5",
                      "--strategy DDP chooses one"});
  expect_refused({"--strategy", "DDP", "--json", prefix + ".1.et"},
                 {"--chakra: ", "trace.1.et is also an output of --json"});
  expect_refused({"--strategy", "DDP", "--set", "training.micro_batches=100000", "--set",
                  "training.global_batch=400000"},
                 {"--chakra: a step of 2 layers x 100000 micro-batches is too long to record on 4 "
                  "ranks; with fewer of these"});
  fs::create_directory(prefix + ".2.et");
  expect_refused({"--strategy", "DDP"},
                 {"--chakra: ", "trace.2.et: cannot be written: it is a folder"});
  for (const std::string& bad : {std::string("-"), folder.path("") + "/"}) {
    const Outcome outcome = run_program({"run", small, "--strategy", "DDP", "--chakra", bad});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("cannot begin the names of files"), std::string::npos);
  }
  const Outcome nowhere =
      run_program({"run", small, "--strategy", "DDP", "--chakra", folder.path("none/trace")});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_NE(nowhere.err.find("its folder does not exist"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::testing
