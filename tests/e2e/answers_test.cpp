// The right answers to questions that people ask. Each, and the test that holds it:
//
//   DeepSpeed#5758: stages 1 and 2 all-reduce gradients, 3 c P in all
//       Wire.IsTheMultipleThatThePapersAndFrameworksSend
//   DeepSpeed#2252: with 8 micro-steps stage 2 sends 17 c P, stage 1 sends 3 c P
//       Wire.OfStage2GrowsWithAccumulation
//   DeepSpeed#1302: BERT-large on 4 ranks, stage 2 is not smaller than stage 1
//       DeepSpeedMemory.OfStage2WasNotBelowThatOfStage1
//   DeepSpeed#4527: 29.01 GiB by the estimator, and what it leaves out
//       DeepSpeedEstimates.OfSevenBillionParametersAreThoseOfTheThread
//       DeepSpeedEstimates.OfStage3LeaveOutWhatGrowsThePeak
//   DeepSpeed#5102: 2 P + 18 P/N = 11.28 GiB
//       DeepSpeedEstimates.OfT5AreThoseThatDeepSpeedPrints
//   DeepSpeed#2928: the bandwidth from which on ZeRO-3 is not bound by the network
//       Zero3Bandwidth, below
//   DeepSpeed#6525: 15099494.4 is refused, 15099494 suggested
//       DeepSpeedConfig.WholeNumbersMayHaveAnExponentButNoFraction
//   DeepSpeed#3810: resuming on another number of ranks
//       CheckpointTest.CutAnewThereAndBackIsTheSameToTheBit
//       ResumedRun.GoesOnWithAnotherWorldAndStrategy
//   DeepSpeed#1599: the first overflow leaves the loss scale, hysteresis falls
//       DeepSpeedsLossScaler.IsItsTwinOnEveryPatternOfOverflows
//   fairscale#413: 3 c P with resharding after forward, 2 c P without
//       Wire.IsTheMultipleThatThePapersAndFrameworksSend
//   nccl-tests, PERFORMANCE.md: busbw is the bandwidth of the links
//       BusBandwidth, below
//   torchtitan: what Llama-3 8B needs less on 128 ranks than on 8
//       Llama3Memory.FallsFrom8To128RanksByTheStates
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/e2e/report_checks.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

constexpr double kNics = 4;

// ---- From which bandwidth on ZeRO-3 is not bound by the network ----

class Zero3Bandwidth : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "64 ranks take minutes.";
    }
  }
};

TEST_F(Zero3Bandwidth, IsAskedOfAModelOfTenBillionParameters) {
  const Outcome outcome = run_program({"run", shipped("zero3_bandwidth"), "--quiet", "--json", "-",
                                       "--strategy", "ZERO3", "--set", "training.steps=1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json::Value run = run_of(parse_json(outcome.out), "ZERO3");
  EXPECT_EQ(run["outcome"], "completed");
  EXPECT_EQ(run["parameters"].asUInt64(), 10'082'525'184U);
  EXPECT_NEAR(run["parameters"].asDouble(), 1e10, 0.01e10);
}

// The bandwidth of a node at which exposed communication and compute take as long, in Gb/s.
double crossover_gbps(const Json::Value& findings, const std::string& strategy) {
  for (const Json::Value& finding : findings["findings"]) {
    if (finding["kind"] == "communication_exceeds_compute" &&
        finding["strategies"][0] == strategy) {
      EXPECT_FALSE(finding["above"].asBool());
      return kNics * 8 * finding["at"].asDouble() / 1e9;
    }
  }
  ADD_FAILURE() << strategy << " has no crossover";
  return 0;
}

// 100 Gb/s of a node are too little for 64 V100, 200 to 400 are fine (DeepSpeed#2928): a step waits
// for the network longer than it computes up to a bandwidth between them, whether nothing overlaps
// or as much as DeepSpeed does.
TEST_F(Zero3Bandwidth, LiesBetween100And400GigabitsPerSecondOfANode) {
  const TemporaryFolder folder;
  const std::string out = folder.path("sweep");
  const Outcome outcome = run_program({"sweep", shipped("zero3_bandwidth"), "--axis",
                                       "cluster.link.bandwidth=25Gbps,50Gbps,100Gbps", "--strategy",
                                       "DEEPSPEED_STAGE3,ZERO3", "--out", out});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json::Value findings = parse_json(folder.read("sweep/findings.json"));
  const double stage3 = crossover_gbps(findings, "DEEPSPEED_STAGE3");
  const double zero3 = crossover_gbps(findings, "ZERO3");
  for (const double crossover : {stage3, zero3}) {
    EXPECT_GE(crossover, 100);
    EXPECT_LE(crossover, 400);
  }
  EXPECT_LT(stage3, zero3);  // Prefetching hides some of it.
  std::printf(
      "compute outweighs the network from %.0f Gb/s per node on (DEEPSPEED_STAGE3), from "
      "%.0f (ZERO3)\n",
      stage3, zero3);
}

// ---- Bus bandwidth, as nccl-tests reckon it ----

// S is the whole vector, algbw S / time. A ring on equal links without latency moves 2 (n-1)/n S
// over each link in an all_reduce and (n-1)/n S otherwise, so that its busbw is the links'
// bandwidth for every n that divides S.
TEST(BusBandwidth, IsThatOfTheLinksForEveryNumberOfRanks) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write("star.textproto", kSmallScenario);
  const std::vector<std::pair<std::string, double>> operations = {
      {"all_reduce", 2}, {"reduce_scatter", 1}, {"all_gather", 1}};
  for (const int n : {2, 4, 8, 16}) {
    for (const auto& [operation, passes] : operations) {
      const Outcome outcome = run_program(
          {"collective", scenario, "--op", operation, "--bytes", "1MiB", "--json", "-", "--set",
           "cluster.world_size=" + std::to_string(n), "--set", "training.global_batch=16", "--set",
           "cluster.link.bandwidth=10GBps", "--set", "cluster.link.latency=0us"});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      const Json::Value row = parse_json(outcome.out)["rows"][0];
      EXPECT_NEAR(row["busbw_bytes_per_s"].asDouble(), 10e9, 10) << operation << " over " << n;
      EXPECT_NEAR(row["algbw_bytes_per_s"].asDouble(), 10e9 * n / (passes * (n - 1)), 100);
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
