// Sweeps as a user runs them: whole, killed and resumed, in shards, and what is refused.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A row of points.csv by its columns' names. Fields here have no line breaks.
using CsvRow = std::map<std::string, std::string>;

Words split_csv_line(const std::string& line) {
  Words fields = {""};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool escaped = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (escaped) {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::vector<CsvRow> parse_csv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const Words names = split_csv_line(line);
  std::vector<CsvRow> rows;
  while (std::getline(lines, line)) {
    const Words fields = split_csv_line(line);
    EXPECT_EQ(fields.size(), names.size()) << line;
    CsvRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(names.size(), fields.size()); ++i) {
      row[names[i]] = fields[i];
    }
  }
  return rows;
}

class SweepCommand : public ::testing::Test {
 protected:
  Outcome sweep(const std::string& out, const Words& more) const {
    return run_program(joined({"sweep", small, "--out", folder.path(out)}, more));
  }

  // Must succeed.
  std::string swept(const std::string& out, const Words& more) const {
    const Outcome outcome = sweep(out, more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* name :
         {"points.csv", "points.jsonl", "findings.json", "summary.txt", "sweep.json"}) {
      const std::string expected = folder.read(a + "/" + name);
      EXPECT_FALSE(expected.empty()) << name;
      EXPECT_EQ(folder.read(b + "/" + name), expected) << name;
    }
  }

  void expect_refused(const std::string& out, const Words& more, const Words& words) const {
    const Outcome outcome = sweep(out, more);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " is not in:\n"
                                                           << outcome.err;
    }
  }

  const TemporaryFolder folder;
  const std::string small = folder.write("small.textproto", kSmallScenario);
  const Words axes = {"--axis", "cluster.link.bandwidth=1Gbps..100Gbps:3:log", "--axis",
                      "cluster.world_size=1,2,4"};
};

TEST_F(SweepCommand, ARowPerPointAndStrategyWhateverTheJobs) {
  const std::string out = swept("one", joined(axes, {"--jobs", "1"}));
  EXPECT_NE(out.find("9 points x 5 strategies = 45 rows: 45 completed"), std::string::npos) << out;
  EXPECT_NE(out.find("arithmetic: REAL"), std::string::npos) << out;
  swept("three", joined(axes, {"--jobs", "3"}));
  expect_same("one", "three");
  EXPECT_EQ(parse_csv(folder.read("one/points.csv")).size(), 45U);
  // Again, there is nothing to do.
  swept("three", joined(axes, {"--resume"}));
  expect_same("one", "three");
}

TEST_F(SweepCommand, RowsAreWhatRunSays) {
  swept("out", axes);
  const std::vector<CsvRow> rows = parse_csv(folder.read("out/points.csv"));
  ASSERT_EQ(rows.size(), 45U);
  std::istringstream lines(folder.read("out/points.jsonl"));
  std::vector<Json::Value> points;
  for (std::string line; std::getline(lines, line);) {
    points.push_back(parse_json(line));
  }
  ASSERT_EQ(points.size(), 45U);
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < 3; ++i) {
    const std::size_t index = random() % rows.size();
    const CsvRow& row = rows[index];
    SCOPED_TRACE("row " + std::to_string(index));
    const Json::Value report =
        run_json(small, {"--strategy", row.at("strategy"), "--set",
                         "cluster.link.bandwidth=" + row.at("cluster.link.bandwidth"), "--set",
                         "cluster.world_size=" + row.at("cluster.world_size")});
    const Json::Value& run = report["runs"][0];
    EXPECT_EQ(row.at("outcome"), run["outcome"].asString());
    EXPECT_EQ(points[index]["run"], run);
    const auto number = [&](const char* name) {
      return std::strtod(row.at(name).c_str(), nullptr);
    };
    for (const char* name : {"wall_s", "forward_s", "backward_s", "optimizer_s",
                             "exposed_communication_s", "busy_communication_s"}) {
      const Json::Value& steps = run["steps"];
      double mean = 0;
      for (Json::ArrayIndex s = 1; s < steps.size(); ++s) {
        mean += steps[s]["time"][name].asDouble() / (steps.size() - 1);
      }
      EXPECT_EQ(number(name), mean) << name;
    }
    double sent = 0;
    double peak = 0;
    for (const Json::Value& rank : run["ranks"]) {
      sent = std::max(sent, rank["steps"][2]["sent_bytes"].asDouble());
      peak = std::max(peak, rank["memory"]["peak_bytes"]["total"].asDouble());
    }
    EXPECT_EQ(number("sent_bytes"), sent);
    EXPECT_EQ(number("peak_memory_bytes"), peak);
    EXPECT_EQ(number("loss"), run["steps"][2]["loss"].asDouble());
    EXPECT_EQ(row.at("limiting_factor"), run["limiting_factor"]["name"].asString());
  }
}

TEST_F(SweepCommand, WhatAPointLacksIsItsRow) {
  const std::string out = swept("out", {"--axis", "cluster.world_size=2,3,4", "--axis",
                                        "cluster.device.memory=100B,1GiB", "--strategy", "ZERO1"});
  EXPECT_NE(out.find("2 completed, 2 out of memory and 2\nfailed"), std::string::npos) << out;
  const std::vector<CsvRow> rows = parse_csv(folder.read("out/points.csv"));
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at("outcome"), "out_of_memory");
  EXPECT_NE(rows[0].at("reason").find("wanted"), std::string::npos);
  EXPECT_EQ(rows[0].at("wall_s"), "");
  EXPECT_EQ(rows[0].at("capacity_bytes"), "100");
  EXPECT_EQ(rows[1].at("outcome"), "completed");
  EXPECT_EQ(rows[3].at("outcome"), "failed");
  EXPECT_EQ(rows[3].at("reason"),
            "training.global_batch: 8 is not allowed; a multiple of cluster.world_size (3): 6 or "
            "9");
}

TEST_F(SweepCommand, WhatTheMachineCannotHoldIsARow) {
  swept("out", {"--axis", "model.layers=[6,4],[1000000,1000000]", "--set",
                "cluster.device.memory=1PiB", "--strategy", "DDP"});
  const std::vector<CsvRow> rows = parse_csv(folder.read("out/points.csv"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("outcome"), "completed");
  EXPECT_EQ(rows[1].at("outcome"), "failed");
  EXPECT_NE(rows[1].at("reason").find("of the machine's memory"), std::string::npos);
}

// The process of a sweep that is to be ended early.
class Running {
 public:
  Running(const Words& arguments, const std::string& points) : points_(points) {
    Words words = joined({SHARDSCOPE_PROGRAM}, arguments);
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      const bool quiet = freopen("/dev/null", "w", stdout) != nullptr &&
                         freopen("/dev/null", "w", stderr) != nullptr;
      setpgid(0, 0);
      execv(quiet ? argv.front() : "", argv.data());
      _exit(127);
    }
    setpgid(process_, process_);
  }

  // Once so many bytes are there, to the process alone or, as a terminal does, to its group.
  int end(int signal, std::uintmax_t bytes, bool group) const {
    std::error_code ignored;
    while (true) {
      const std::uintmax_t size = fs::file_size(points_, ignored);
      if (!ignored && size >= bytes) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(group ? -process_ : process_, signal);
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  std::string points_;
  pid_t process_ = -1;
};

TEST_F(SweepCommand, KilledAtAnyTimeItGoesOn) {
  swept("whole", axes);
  const auto size = fs::file_size(folder.path("whole/points.jsonl"));
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    const std::string out = "ended" + std::to_string(signal);
    const Words command = joined({"sweep", small, "--out", folder.path(out), "--resume"}, axes);
    int interruptions = 0;
    for (const std::uintmax_t share : {1U, 3U}) {
      const int code = Running(command, folder.path(out + "/points.jsonl"))
                           .end(signal, size * share / 5, signal == SIGINT);
      interruptions += code == 128 + signal ? 1 : 0;
      // It may have been faster.
      EXPECT_TRUE(code == 128 + signal || code == 0) << code;
    }
    EXPECT_GE(interruptions, 1);
    swept(out, joined(axes, {"--resume"}));
    expect_same("whole", out);
  }
}

// Options are the point's, not the preset's.
TEST_F(SweepCommand, AppliesTheOptionsOfEachPoint) {
  const std::string frameworks =
      std::string(SHARDSCOPE_SOURCE_DIR) + "/scenarios/quickstart.textproto";
  const Outcome outcome =
      run_program({"sweep", frameworks, "--strategy", "TORCH_DDP", "--set",
                   "options.bucket_size=128KiB", "--set", "training.steps=2", "--axis",
                   "options.overlap=true,false", "--out", folder.path("options")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(folder.read("options/points.csv"));
  std::vector<std::string> walls;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < 6; ++i) {
      std::getline(cells, cell, ',');
    }
    walls.push_back(cell);
  }
  ASSERT_EQ(walls.size(), 3U);
  EXPECT_LT(std::stod(walls[1]), std::stod(walls[2])) << "overlap hides communication";
}

TEST_F(SweepCommand, ATornLineIsCutOffAndACorruptOneRefused) {
  swept("whole", axes);
  swept("torn", axes);
  const std::string lines = folder.read("torn/points.jsonl");
  folder.write("torn/points.jsonl", lines.substr(0, lines.size() - 100));
  const Outcome outcome = sweep("torn", joined(axes, {"--resume"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("the last line was not complete"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("44 of 45 rows are there"), std::string::npos) << outcome.err;
  expect_same("whole", "torn");
  std::string corrupt = lines;
  corrupt[lines.find('\n') / 2] = '\x01';
  folder.write("torn/points.jsonl", corrupt);
  expect_refused("torn", joined(axes, {"--resume"}),
                 {"points.jsonl:1: is damaged", "without this line, sweep --resume computes"});
  EXPECT_EQ(folder.read("torn/points.jsonl"), corrupt);
  folder.write("torn/points.jsonl", corrupt.substr(corrupt.find('\n') + 1));
  swept("torn", joined(axes, {"--resume"}));
  expect_same("whole", "torn");
}

TEST_F(SweepCommand, ResumingNothingSaysThatItStartsAnew) {
  fs::create_directory(folder.path("empty"));
  for (const std::string out : {"none", "empty"}) {
    const Outcome outcome = sweep(out, joined(axes, {"--resume", "--strategy", "DDP"}));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(
        outcome.err.find("nothing to resume in " + folder.path(out) + ": the sweep starts anew\n"),
        std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(
      sweep("none", joined(axes, {"--resume", "--strategy", "DDP"})).err.find("nothing to resume"),
      std::string::npos);
}

TEST_F(SweepCommand, RefusesFoldersThatHoldSomethingElse) {
  swept("out", axes);
  const std::string kept = folder.read("out/points.csv");
  expect_refused("out", axes, {"--out", "holds a sweep already", "--resume"});
  expect_refused("out", {"--axis", "cluster.world_size=1,2", "--resume"},
                 {"holds another sweep: axes: cluster.link.bandwidth with 3 values from 1Gbps to "
                  "100Gbps"});
  expect_refused("out", joined(axes, {"--resume", "--strategy", "DDP"}),
                 {"holds another sweep: strategies: "});
  expect_refused(
      "out",
      joined(axes, {"--resume", "--set", "training.steps=4", "--set", "cluster.link.latency=7us"}),
      {"holds another sweep: training.steps: not set there, 4 here",
       "holds another sweep: cluster.link.latency: not set there, 7us here"});
  expect_refused("out", joined(axes, {"--resume", "--shard", "1/2"}),
                 {"holds shard 1 of 1, not shard 1 of 2"});
  EXPECT_EQ(folder.read("out/points.csv"), kept);
  fs::create_directory(folder.path("mine"));
  folder.write("mine/thesis.txt", "years of work");
  expect_refused("mine", axes, {"holds other files (thesis.txt)"});
  expect_refused("mine", joined(axes, {"--resume"}), {"holds other files (thesis.txt)"});
  expect_refused("small.textproto", axes, {"is not a folder"});
  const Outcome merge = run_program({"merge", folder.path("out"), "--out", folder.path("out")});
  EXPECT_EQ(merge.exit_code, 2);
  EXPECT_NE(merge.err.find("holds a sweep already; another folder\n"), std::string::npos)
      << merge.err;
  folder.write("out/sweep.json", "{}");
  expect_refused("out", joined(axes, {"--resume"}), {"sweep.json: has no text \"shardscope\""});
  fs::remove(folder.path("out/sweep.json"));
  expect_refused("out", joined(axes, {"--resume"}),
                 {"its sweep.json is missing", "its points.jsonl belongs"});
  fs::create_directory(folder.path("starting"));
  folder.write("starting/.shardscope-7-0.tmp", "{");
  expect_refused("starting", axes, {"another sweep is just starting there", ".shardscope-7-0.tmp"});
  // An empty folder is as good as none.
  fs::create_directory(folder.path("empty"));
  swept("empty", axes);
}

TEST_F(SweepCommand, SaysAllFaultsAtOnceAndMakesNoFolder) {
  fs::create_directory(folder.path("mine"));
  folder.write("mine/thesis.txt", "years of work");
  expect_refused("mine",
                 {"--axis", "cluster.link.bandwith=1Gbps,2Gbps", "--axis",
                  "cluster.world_size=4..2:1", "--set", "training.stpes=2", "--shard", "3/2"},
                 {"did you mean \"bandwidth\"?", "is reversed", "as the number of points",
                  "did you mean \"steps\"?", "--shard 3/2: is no shard", "thesis.txt"});
  expect_refused("none", {"--axis", "cluster.world_size=0,1"}, {"0 is not allowed"});
  expect_refused("none", {"--axis", "cluster.world_size=3,5"}, {"none of the 2 points"});
  expect_refused("none", {}, {"has no axes"});
  expect_refused("none", {"--axis", "cluster.world_size=1", "--shard", "2/2"},
                 {"more shards than points"});
  expect_refused("none", joined(axes, {"--jobs", "0"}), {"--jobs"});
  expect_refused("none", joined(axes, {"--strategy", "ZERO9"}), {"ZERO9", "\"ZERO1\""});
  EXPECT_FALSE(fs::exists(folder.path("none")));
  EXPECT_EQ(run_program({"sweep", small}).exit_code, 2);
  EXPECT_EQ(run_program({"merge", "--out", folder.path("none")}).exit_code, 2);
}

TEST_F(SweepCommand, AFileCanHoldItsSweep) {
  const std::string text = kSmallScenario +
                           "sweep {\n"
                           "  axis { field: \"cluster.link.bandwidth\" from: \"1Gbps\" "
                           "to: \"100Gbps\" points: 3 scale: LOG }\n"
                           "  axis { field: \"cluster.world_size\" values: \"1,2,4\" }\n}\n";
  const std::string path = folder.write("swept.textproto", text);
  swept("arguments", axes);
  const Outcome outcome = run_program({"sweep", path, "--out", folder.path("file")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_same("arguments", "file");
  // `run` says so and leaves it alone, `check` checks it.
  const Outcome run = run_program({"run", path, "--quiet"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("sweep was left out; shardscope sweep runs it"), std::string::npos);
  Json::Value report = run_json(path);
  EXPECT_EQ(report, run_json(small));
  EXPECT_EQ(run_program({"check", path}).exit_code, 0);
  std::string bad = text;
  bad.replace(bad.find("1,2,4\""), 5, "1,0,x");
  const Outcome check = run_program({"check", folder.write("bad.textproto", bad)});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_NE(check.err.find("bad.textproto:15:46: cluster.world_size: x is not allowed"),
            std::string::npos)
      << check.err;
}

// The script of job arrays, once per task as Slurm would start it.
TEST_F(SweepCommand, ShardsOfAJobArrayMergeIntoTheWhole) {
  swept("whole", axes);
  for (int id = 3; id <= 6; ++id) {
    const std::string task = "SHARDSCOPE='" SHARDSCOPE_PROGRAM
                             "' SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=4 "
                             "SLURM_ARRAY_TASK_ID=" +
                             std::to_string(id) +
                             " bash '" SHARDSCOPE_SOURCE_DIR "/scenarios/sweep_array.sh' \"$@\"";
    const Outcome outcome =
        run_program(joined({"-c", task, "bash", small, "--out", folder.path("array")}, axes),
                    {.program = "/bin/bash"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  Words shards;
  for (int index = 1; index <= 4; ++index) {
    shards.push_back(folder.path("array/shard-" + std::to_string(index)));
    EXPECT_FALSE(fs::exists(shards.back() + "/findings.json"));
  }
  const Outcome merged =
      run_program(joined(joined({"merge"}, shards), {"--out", folder.path("merged")}));
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  expect_same("whole", "merged");

  const Outcome gap =
      run_program({"merge", shards[0], shards[3], shards[3], "--out", folder.path("merged")});
  EXPECT_EQ(gap.exit_code, 2);
  for (const std::string word : {"shard 2 of 4 is missing", "shard 3 of 4 is missing", "and so is",
                                 "holds a sweep already"}) {
    EXPECT_NE(gap.err.find(word), std::string::npos) << word << " is not in:\n" << gap.err;
  }
}

}  // namespace
}  // namespace shardscope::testing
