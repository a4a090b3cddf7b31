// Child processes, and the memory of the machine that simulates.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/process/child.h"
#include "sim/run/host_memory.h"
#include "sim/run/interruption.h"
#include "tests/core/support/small_strategies.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

TEST(RunInChild, ReturnsWhatWasMade) {
  const std::string bytes("a\0b\n", 4);
  const ChildResult result = run_in_child([&] { return bytes; });
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.output, bytes);
  EXPECT_EQ(result.failure, "");
}

TEST(RunInChild, ReturnsNothingAndMuch) {
  EXPECT_TRUE(run_in_child([] { return std::string(); }).ok);
  const ChildResult result = run_in_child([] { return std::string(50'000'000, 'x') + "y"; });
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.output.size(), 50'000'001U);
  EXPECT_EQ(result.output.back(), 'y');
}

TEST(RunInChild, LeavesTheCallerAsItWas) {
  int calls = 0;
  run_in_child([&] { return std::to_string(++calls); });
  EXPECT_EQ(calls, 0);
}

TEST(RunInChild, SaysWhatWasThrown) {
  const ChildResult result =
      run_in_child([]() -> std::string { throw std::runtime_error("disk on fire"); });
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.failure, "disk on fire");
}

TEST(RunInChild, SaysHowTheChildEnded) {
  const auto failure = [](void (*end)()) {
    const ChildResult result = run_in_child([end] {
      end();
      return std::string("not reached");
    });
    EXPECT_FALSE(result.ok);
    EXPECT_EQ(result.output, "");
    return result.failure;
  };
  EXPECT_EQ(failure([] { std::abort(); }), "killed by signal 6 (Aborted)");
  EXPECT_EQ(failure([] { raise(SIGKILL); }), "killed by signal 9 (Killed)");
  EXPECT_EQ(failure([] { _exit(7); }), "ended with exit code 7");
  EXPECT_EQ(failure([] { throw 5; }), "killed by signal 6 (Aborted)");  // Not an std::exception.
}

TEST(RunInChild, TheChildEndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    run_in_child([&] {
      const bool written = write(ends[1], "!", 1) == 1;
      pause();
      return std::string(written ? "" : "no pipe");
    });
    _exit(0);
  }
  close(ends[1]);
  char letter = 0;
  ASSERT_EQ(read(ends[0], &letter, 1), 1);  // The child runs.
  ASSERT_EQ(kill(parent, SIGKILL), 0);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(read(ends[0], &letter, 1), 0);  // Its end of the pipe is closed.
  close(ends[0]);
}

TEST(ChildPool, RunsSeveralAtOnceAndGivesEachItsOwnResult) {
  ChildPool pool;
  EXPECT_FALSE(pool.wait({}).has_value());
  // The first ends last, and what it writes is more than a pipe holds.
  for (std::size_t id = 0; id < 8; ++id) {
    EXPECT_EQ(pool.start(id,
                         [id]() -> std::string {
                           usleep(id == 0 ? 100'000 : 0);
                           if (id == 3) {
                             throw std::runtime_error("three");
                           }
                           return std::string(id * 100'000, 'a') + std::to_string(id);
                         }),
              std::nullopt);
  }
  EXPECT_EQ(pool.running(), 8U);
  std::vector<std::size_t> order;
  while (pool.running() > 0) {
    if (const auto ended = pool.wait(std::chrono::seconds(10))) {
      order.push_back(ended->id);
      EXPECT_EQ(ended->result.ok, ended->id != 3);
      EXPECT_EQ(ended->result.failure, ended->id == 3 ? "three" : "");
      const std::string expected =
          std::string(ended->id * 100'000, 'a') + std::to_string(ended->id);
      EXPECT_EQ(ended->result.output, ended->id == 3 ? "" : expected);
    }
  }
  EXPECT_EQ(order.size(), 8U);
  EXPECT_EQ(order.back(), 0U);
}

TEST(ChildPool, WaitsNoLongerThanAskedAndKillsWhatIsLeft) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ChildPool pool;
    pool.start(0, [&]() -> std::string {
      pause();
      return "";
    });
    EXPECT_FALSE(pool.wait(std::chrono::milliseconds(10)).has_value());
    EXPECT_EQ(pool.running(), 1U);
  }
  close(ends[1]);
  char letter = 0;
  EXPECT_EQ(read(ends[0], &letter, 1), 0);  // The child's copy of the other end is closed.
  close(ends[0]);
}

TEST(Interruption, IsNotedByTheParentAlone) {
  EXPECT_EQ(run_in_child([]() -> std::string {
              const Interruption interruption;
              const ChildResult child = run_in_child([] {
                Interruption::leave_to_parent();
                raise(SIGINT);
                raise(SIGTERM);
                return std::string("alive");
              });
              raise(SIGTERM);
              return child.output + " " + std::to_string(Interruption::signal());
            }).output,
            "alive 15");
}

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// A machine made of files.
class AvailableHostBytes : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.path(name)).parent_path());
    folder_.write(name, text);
  }

  std::uint64_t available() const {
    return available_host_bytes({.meminfo = folder_.path("meminfo"),
                                 .cgroup_of_self = folder_.path("self"),
                                 .cgroup_root = folder_.path("cgroup")});
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AvailableHostBytes, NothingKnownLimitsNothing) {
  EXPECT_EQ(available(), kUnlimited);
  write("meminfo", "MemTotal: 5 kB\n");
  write("self", "not a line of a group\n1:memory\n");
  EXPECT_EQ(available(), kUnlimited);
}

TEST_F(AvailableHostBytes, OfTheMachine) {
  write("meminfo", "MemTotal:       8000 kB\nMemFree: 10 kB\nMemAvailable:   4000 kB\n");
  EXPECT_EQ(available(), 4'096'000U);
}

TEST_F(AvailableHostBytes, OfGroupsOfVersion2) {
  write("meminfo", "MemAvailable: 4000 kB\n");
  write("self", "0::/a/b\n");
  write("cgroup/a/b/memory.max", "max\n");
  write("cgroup/a/b/memory.current", "300\n");
  EXPECT_EQ(available(), 4'096'000U) << "max is no limit";
  write("cgroup/a/memory.max", "1000\n");
  write("cgroup/a/memory.current", "400\n");
  EXPECT_EQ(available(), 600U) << "a group above limits as well";
  write("cgroup/a/b/memory.max", "500\n");
  EXPECT_EQ(available(), 200U) << "the least counts";
  write("cgroup/a/b/memory.current", "501\n");
  EXPECT_EQ(available(), 0U);
  write("cgroup/a/b/memory.stat", "anon 301\nfile 200\ninactive_anon 7\ninactive_file 150\n");
  EXPECT_EQ(available(), 149U) << "file caches can be taken back";
}

TEST_F(AvailableHostBytes, OfTheGroupThatIsTheRootInsideAContainer) {
  write("self", "0::/\n");
  write("cgroup/memory.max", "1000\n");
  write("cgroup/memory.current", "100\n");
  EXPECT_EQ(available(), 900U);
}

TEST_F(AvailableHostBytes, OfGroupsOfVersion1) {
  write("self", "7:cpu,cpuacct:/a\n5:hugetlb,memory:/a/b\n0::/\n");
  write("cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/a/b/memory.usage_in_bytes", "9000\n");
  EXPECT_GT(available(), std::uint64_t{1} << 62);
  write("cgroup/memory/a/memory.limit_in_bytes", "10000\n");
  write("cgroup/memory/a/memory.usage_in_bytes", "9000\n");
  EXPECT_EQ(available(), 1000U);
  write("cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\n");
  EXPECT_EQ(available(), 3000U);
  // A container sees its group as the root, whatever its path is called outside.
  write("self", "5:memory:/docker/0123\n");
  write("cgroup/memory/memory.limit_in_bytes", "5000\n");
  write("cgroup/memory/memory.usage_in_bytes", "4500\n");
  EXPECT_EQ(available(), 500U);
}

TEST_F(AvailableHostBytes, OfTheAddressSpace) {
  if (kSanitized) {
    GTEST_SKIP() << "takes more address space";
  }
  const ChildResult child = run_in_child([&] {
    const rlimit limit = {1'000'000'000, 1'000'000'000};
    return setrlimit(RLIMIT_AS, &limit) == 0 ? std::to_string(available()) : "not set";
  });
  EXPECT_EQ(child.output, "1000000000");
}

std::uint64_t peak_of_all_ranks(const RunResult& run) {
  std::uint64_t total = 0;
  for (const RankResult& rank : run.ranks()) {
    total += rank.peak().total();
  }
  return total;
}

TEST(NeededHostBytes, AreWhatRanksHoldAtTheirPeakOrMore) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 10 : 40); ++seed) {
    const RandomScenario random(seed);
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + random.text);
      Scenario scenario = random.scenario;
      EXPECT_GE(needed_host_bytes(scenario, strategy),
                peak_of_all_ranks(run_simulation(scenario, strategy)));
    }
  }
}

// Where the tensors are large beside the program, the estimate is close.
TEST(NeededHostBytes, AreNotFarTooMany) {
  for (const DType precision : {DType::fp32, DType::bf16}) {
    for (const DType reduce_precision : {precision, DType::fp32}) {
      for (const ModelSpec& model :
           {ModelSpec{{2000, 2000, 2000}, Activation::relu, Loss::mse},
            ModelSpec{std::vector<std::size_t>(41, 400)}, ModelSpec{{10, 4000, 10, 4000, 10}}}) {
        for (const int world : {1, 2, 3, kSanitized ? 4 : 16}) {
          for (const Strategy& strategy : paper_strategies()) {
            TrainingOptions training;
            training.steps = 1;
            training.global_batch = static_cast<std::size_t>(16 * world);
            training.precision = precision;
            training.reduce_precision = reduce_precision;
            training.storage = Storage::shape_only;
            Scenario scenario = make_scenario(model, training, world);
            const std::uint64_t peak = peak_of_all_ranks(run_simulation(scenario, strategy));
            scenario.training.storage = Storage::real;
            const std::uint64_t needed = needed_host_bytes(scenario, strategy);
            SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world) + ", " +
                         std::string(name(precision)) + " reduced in " +
                         std::string(name(reduce_precision)) + ", " +
                         std::to_string(model.layer_count()) + " layers");
            const std::uint64_t program = 60'000'000;
            EXPECT_GE(needed, peak + program);
            EXPECT_LE(static_cast<double>(needed - program), 1.3 * static_cast<double>(peak));
          }
        }
      }
    }
  }
}

TEST(NeededHostBytes, OfAShapeOnlyRunAreTheProgramsAlone) {
  TrainingOptions training;
  training.storage = Storage::shape_only;
  const Scenario scenario = make_scenario(ModelSpec{{16384, 16384, 16384}}, training, 8);
  EXPECT_LT(needed_host_bytes(scenario, all_strategies().front()), 100'000'000U);
}

TEST(NeededHostBytes, AreNoMoreThanTheDevicesHold) {
  Scenario scenario = make_scenario(ModelSpec{{16384, 16384, 16384}}, TrainingOptions{}, 8);
  scenario.device.memory_bytes = 1000;
  EXPECT_LT(needed_host_bytes(scenario, all_strategies().front()), 100'000'000U);
}

}  // namespace
}  // namespace shardscope::testing
