// What a sweep keeps on disk: lines and whether they can be trusted, their order, the table,
// shards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/report/summary.h"
#include "sim/sweep/csv.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/identity.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/range.h"
#include "sim/sweep/row.h"
#include "sim/sweep/store.h"
#include "tests/sim/sample_results.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

// 3 bandwidths x 2 precisions, two strategies: 12 rows.
Sweep sample_sweep() {
  Sweep sweep;
  sweep.version = "1";
  sweep.name = "sample, \"quoted\"";
  sweep.scenario_digest = "0123456789abcdef";
  sweep.arithmetic = "REAL";
  sweep.axes = {
      make_axis({"cluster.link.bandwidth", FieldKind::quantity, Dimension::rate}, Scale::log,
                {"1Gbps", "10Gbps", "100Gbps"}),
      make_axis({"training.precision", FieldKind::choice}, Scale::category, {"FP32", "BF16"})};
  sweep.strategies = {"DDP", "ZERO3"};
  return sweep;
}

std::string line_of(const Sweep& sweep, std::size_t task) {
  return failure_line(sweep, task, "reason, \"" + std::to_string(task) + "\"");
}

class Store : public ::testing::Test {
 protected:
  StoredLines read(std::vector<std::string>& problems) const {
    return read_store(path, sweep, nullptr, problems);
  }

  std::string problems_of(const std::string& content) const {
    folder.write("points.jsonl", content);
    std::vector<std::string> problems;
    read(problems);
    std::string text;
    for (const std::string& problem : problems) {
      text += problem + "\n";
    }
    return text;
  }

  const TemporaryFolder folder;
  const Sweep sweep = sample_sweep();
  const std::string path = folder.path("points.jsonl");
};

TEST_F(Store, ReturnsWhatWasAppended) {
  std::vector<std::string> problems;
  EXPECT_EQ(read(problems).whole_bytes, 0U);  // There is no file.
  {
    StoreWriter writer(path, {});
    for (const std::size_t task : {7U, 0U, 11U}) {
      writer.append(line_of(sweep, task));
    }
    writer.flush();
    EXPECT_EQ(writer.error(), std::nullopt);
  }
  std::vector<std::size_t> tasks;
  const StoredLines stored = read_store(
      path, sweep,
      [&](std::size_t task, const Row& row) {
        tasks.push_back(task);
        EXPECT_EQ(row.outcome, Outcome::failed);
        EXPECT_EQ(row.reason, "reason, \"" + std::to_string(task) + "\"");
      },
      problems);
  EXPECT_EQ(tasks, (std::vector<std::size_t>{7, 0, 11}));
  EXPECT_EQ(stored.whole_bytes, folder.read("points.jsonl").size());
  EXPECT_EQ(stored.torn_bytes, 0U);
  EXPECT_FALSE(is_in_order(stored.lines));
  EXPECT_EQ(missing_tasks(sweep, stored.lines).size(), 9U);
  EXPECT_EQ(write_in_order(path, {{path, stored.lines}}), std::nullopt);
  EXPECT_EQ(folder.read("points.jsonl"),
            line_of(sweep, 0) + "\n" + line_of(sweep, 7) + "\n" + line_of(sweep, 11) + "\n");
  EXPECT_TRUE(problems.empty());
}

// Cut anywhere, what is whole is kept and the rest is cut off.
TEST_F(Store, ALineTornAnywhereIsRepaired) {
  const std::string first = line_of(sweep, 3) + "\n";
  const std::string second = line_of(sweep, 4) + "\n";
  for (std::size_t length = 1; length < second.size(); ++length) {
    folder.write("points.jsonl", first + second.substr(0, length));
    std::vector<std::string> problems;
    const StoredLines stored = read(problems);
    EXPECT_TRUE(problems.empty());
    ASSERT_EQ(stored.lines.size(), 1U);
    EXPECT_EQ(stored.whole_bytes, first.size());
    EXPECT_EQ(stored.torn_bytes, length);
    StoreWriter writer(path, stored);
    writer.append(line_of(sweep, 4));
    writer.close();
    EXPECT_EQ(folder.read("points.jsonl"), first + second);
  }
  folder.write("points.jsonl", first + std::string(100, '\0'));
  std::vector<std::string> problems;
  EXPECT_EQ(read(problems).torn_bytes, 100U);
  EXPECT_TRUE(problems.empty());
}

TEST_F(Store, LinesThatCannotBeAreRefusedWithTheirNumbers) {
  const std::string good = line_of(sweep, 3) + "\n";
  const std::string last = line_of(sweep, 4) + "\n";
  const std::string remedy = "; without this line, sweep --resume computes its row anew\n";
  const std::string damaged = ": is damaged: its digest is not that of the line" + remedy;
  for (const std::string& line :
       {std::string("{\"point\":"), std::string(), std::string(10'000, '['), std::string("[]"),
        std::string("{}"), good.substr(0, good.size() - 2), good.substr(1, good.size() - 2)}) {
    EXPECT_EQ(problems_of(good + line + "\n" + last), path + ":2" + damaged);
  }
  EXPECT_EQ(problems_of("{}\n{\"point\":1}\n" + last),
            path + ":1" + damaged + path + ":2" + damaged);
  EXPECT_EQ(problems_of(good + last + good), path + ":3: is the row of line 1 again" + remedy);
  Sweep other = sweep;
  other.axes[0].values[0].text = "2Gbps";
  EXPECT_EQ(problems_of(line_of(other, 0) + "\n" + last),
            path + ":1: is no point of this sweep" + remedy);
}

// Each byte counts: nothing that was changed passes.
TEST_F(Store, DamageIsSeenWhereverItIs) {
  const std::string good = line_of(sweep, 3) + "\n";
  const std::string last = line_of(sweep, 4) + "\n";
  for (std::size_t i = 0; i + 1 < good.size(); ++i) {
    for (const int bit : {1, 16}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      if (changed[i] != '\n') {
        EXPECT_NE(problems_of(changed + last), "") << changed;
      }
    }
  }
}

TEST_F(Store, RandomBytesDoNoHarm) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string bytes(random() % 500, '\0');
    for (char& byte : bytes) {
      byte = random() % 20 == 0 ? '\n' : static_cast<char>(random() % 256);
    }
    folder.write("points.jsonl", bytes);
    std::vector<std::string> problems;
    EXPECT_TRUE(read(problems).lines.empty());
  }
}

TEST_F(Store, IsWrittenByOneAtATime) {
  const StoreWriter first(path, {});
  ASSERT_EQ(first.error(), std::nullopt);
  const StoreWriter second(path, {});
  EXPECT_NE(second.error().value_or("").find("another sweep is writing to it"), std::string::npos);
}

// What was read is no longer true: rows have been added, or the file has been put in order.
TEST_F(Store, IsRefusedIfItChangedSinceItWasRead) {
  const std::string first = line_of(sweep, 1) + "\n";
  folder.write("points.jsonl", first);
  std::vector<std::string> problems;
  const StoredLines stored = read(problems);
  const std::string longer = first + line_of(sweep, 4) + "\n";
  for (const std::string& now : {longer, std::string()}) {
    folder.write("points.jsonl", now);
    const StoreWriter writer(path, stored);
    EXPECT_NE(writer.error().value_or("").find("has just written to it"), std::string::npos);
    EXPECT_EQ(folder.read("points.jsonl"), now);
  }
}

TEST_F(Store, AFullDiskIsAnError) {
  StoreWriter writer("/dev/full", {});
  writer.append("{}");
  EXPECT_NE(writer.error().value_or("").find("/dev/full: cannot be written"), std::string::npos);
}

TEST(Row, OfARunIsReadBackAsItWas) {
  const Sweep sweep = sample_sweep();
  const Scenario scenario = sample_scenario(8);
  const RunResult run = sample_run("ZERO3", 8, 8, 2e-3);
  const std::string line = result_line(sweep, 5, scenario, run);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  std::string problem;
  const std::optional<ReadLine> read = read_line(sweep, line, problem);
  ASSERT_TRUE(read.has_value()) << problem;
  EXPECT_EQ(read->task, 5U);
  EXPECT_EQ(read->row.outcome, Outcome::completed);
  EXPECT_EQ(read->row.capacity_bytes, scenario.device.memory_bytes);
  EXPECT_EQ(read->row.reason, "");
  const RunSummary summary = summarize(run);
  EXPECT_EQ(read->row.wall_s, summary.mean.wall_s);
  EXPECT_EQ(read->row.busy_communication_s, summary.mean.busy_s);
  EXPECT_EQ(read->row.peak_memory_bytes, summary.memory.peak_total);
  EXPECT_EQ(read->row.sent_bytes, summary.wire.sent);
  EXPECT_EQ(read->row.loss, run.steps().rbegin()->loss());
}

TEST(Identity, IsReadBackAndTellsSweepsApart) {
  const Sweep sweep = sample_sweep();
  std::string problem;
  const std::optional<Sweep> read = parse_identity(identity_text(sweep), problem);
  ASSERT_TRUE(read.has_value()) << problem;
  EXPECT_EQ(identity_text(*read), identity_text(sweep));
  EXPECT_TRUE(differences(*read, sweep).empty());
  const auto change = [&](auto&& edit) {
    Sweep other = sample_sweep();
    edit(other);
    EXPECT_NE(sweep_digest(other), sweep_digest(sweep));
    const std::vector<std::string> found = differences(other, sweep);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(change([](Sweep& other) { other.strategies.pop_back(); }),
            "strategies: DDP there, DDP and ZERO3 here");
  EXPECT_EQ(change([](Sweep& other) { other.version = "2"; }), "version: 2 there, 1 here");
  EXPECT_NE(change([](Sweep& other) { other.axes.pop_back(); }).find("axes: "), std::string::npos);
  EXPECT_NE(change([](Sweep& other) {
              other.axes[0].values[1].text = "9Gbps";
            }).find("the same ends, other values between them"),
            std::string::npos);
  EXPECT_NE(change([](Sweep& other) { other.scenario_digest[0] = 'f'; }).find("digest"),
            std::string::npos);
  EXPECT_EQ(change([](Sweep& other) {
              other.scenario_digest[0] = 'f';
              other.set["training.steps"] = "4";
            }),
            "training.steps: 4 there, not set here");
  // The same content in other words is the same sweep.
  Sweep words = sample_sweep();
  words.set["cluster.link.latency"] = "5us";
  EXPECT_TRUE(differences(words, sweep).empty());
  EXPECT_EQ(sweep_digest(words), sweep_digest(sweep));
  EXPECT_EQ(identity_text(*parse_identity(identity_text(words), problem)), identity_text(words));
  Sweep shard = sample_sweep();
  shard.shard = {2, 3};
  EXPECT_EQ(sweep_digest(shard), sweep_digest(sweep));
}

TEST(Identity, RefusesWhatIsNone) {
  const std::string good = identity_text(sample_sweep());
  const auto problem_of = [](const std::string& text) {
    std::string problem;
    EXPECT_FALSE(parse_identity(text, problem).has_value());
    EXPECT_FALSE(problem.empty());
    return problem;
  };
  for (const std::string text : {"", "{", "[]", "null", "{}", "{\"axes\":3}"}) {
    problem_of(text);
  }
  problem_of(std::string(5'000, '['));
  std::string other = good;
  other.replace(other.find("10Gbps"), 6, "11Gbps");
  EXPECT_EQ(problem_of(other), "has been changed: its digest is another");
  for (std::size_t length = 0; length + 2 < good.size(); ++length) {
    problem_of(good.substr(0, length));
  }
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\"\n"), "\"say \"\"so\"\"\n\"");
}

TEST(Csv, TextsAreNoFormulas) {
  for (const std::string text : {"=1+1", "+1", "-x", "@SUM(A1)", "=", "-"}) {
    EXPECT_EQ(safe_text(text), "'" + text);
  }
  for (const std::string text : {"", "a=b", "x-1", "'=1", " =1"}) {
    EXPECT_EQ(safe_text(text), text);
  }
}

TEST(Csv, OnlyTextsOfAScenarioAreGuarded) {
  const TemporaryFolder folder;
  Sweep sweep = sample_sweep();
  sweep.axes = {make_axis({"data.file", FieldKind::text}, Scale::category, {"=cmd,\"x\"", "plain"}),
                make_axis({"training.optimizer.weight_decay", FieldKind::number}, Scale::linear,
                          {"-1", "+2"})};
  AtomicFile file(folder.path("points.csv"));
  Row row;
  row.outcome = Outcome::failed;
  row.reason = "@reason";
  write_csv_row(sweep, 0, row, file);
  row = {};
  row.outcome = Outcome::completed;
  row.loss = -0.5;
  write_csv_row(sweep, 6, row, file);
  ASSERT_EQ(file.commit(), std::nullopt);
  EXPECT_EQ(folder.read("points.csv"),
            "0,\"'=cmd,\"\"x\"\"\",-1,DDP,failed,'@reason,,,,,,,,,,,,,\r\n"
            "3,plain,+2,DDP,completed,,0,0,0,0,0,0,0,0,,0,0,,-0.5\r\n");
}

TEST(Csv, NumbersAreReadBackAsTheyWere) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) {
      EXPECT_EQ(std::strtod(shortest_text(value).c_str(), nullptr), value);
    }
  }
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(1e6), "1000000");
  EXPECT_EQ(shortest_text(1e-9), "1e-09");
}

TEST(Csv, IsARowPerPointAndStrategy) {
  const TemporaryFolder folder;
  const Sweep sweep = sample_sweep();
  AtomicFile file(folder.path("points.csv"));
  write_csv_header(sweep, file);
  Row row;
  row.outcome = Outcome::completed;
  row.wall_s = 0.25;
  row.capacity_bytes = 7;
  row.limiting_factor = "latency";
  row.loss = std::numeric_limits<double>::quiet_NaN();
  write_csv_row(sweep, 5, row, file);
  row = {};
  row.outcome = Outcome::failed;
  row.reason = "no, not so";
  write_csv_row(sweep, 6, row, file);
  ASSERT_EQ(file.commit(), std::nullopt);
  EXPECT_EQ(
      folder.read("points.csv"),
      "point,cluster.link.bandwidth,cluster.link.bandwidth_bytes_per_s,training.precision,"
      "strategy,outcome,reason,wall_s,forward_s,backward_s,optimizer_s,"
      "checkpoint_s,exposed_communication_s,busy_communication_s,peak_memory_bytes,capacity_bytes,"
      "sent_bytes,skipped_steps,limiting_factor,loss\r\n"
      "2,10Gbps,1250000000,FP32,ZERO3,completed,,0.25,0,0,0,0,0,0,0,7,0,0,latency,nan\r\n"
      "3,10Gbps,1250000000,BF16,DDP,failed,\"no, not so\",,,,,,,,,,,,,\r\n");
}

class Merging : public ::testing::Test {
 protected:
  // Folders of so many shards, all rows in them but those that `lacks` names.
  std::vector<std::string> write_shards(const Sweep& whole, std::size_t count,
                                        const std::string& name, std::size_t lacks = SIZE_MAX) {
    std::vector<std::string> folders;
    for (std::size_t index = 1; index <= count; ++index) {
      Sweep shard = whole;
      shard.shard = {index, count};
      const std::string path = folder.path(name + std::to_string(index));
      std::filesystem::create_directory(path);
      folder.write(name + std::to_string(index) + "/sweep.json", identity_text(shard));
      StoreWriter writer(points_path(path), {});
      for (const std::size_t task : missing_tasks(shard, {})) {
        if (task != lacks) {
          writer.append(line_of(shard, task));
        }
      }
      folders.push_back(path);
    }
    return folders;
  }

  static std::string problems_of(const std::vector<std::string>& folders) {
    std::vector<std::string> problems;
    EXPECT_FALSE(read_shards(folders, problems).has_value());
    std::string text;
    for (const std::string& problem : problems) {
      text += problem + "\n";
    }
    return text;
  }

  const TemporaryFolder folder;
};

TEST_F(Merging, GivesAllRowsInOrder) {
  const Sweep sweep = sample_sweep();
  std::string expected;
  for (std::size_t task = 0; task < sweep.task_count(); ++task) {
    expected += line_of(sweep, task) + "\n";
  }
  for (std::size_t count = 1; count <= 6; ++count) {
    std::vector<std::string> folders =
        write_shards(sweep, count, "s" + std::to_string(count) + "-");
    std::reverse(folders.begin(), folders.end());
    std::vector<std::string> problems;
    const std::optional<Shards> shards = read_shards(folders, problems);
    ASSERT_TRUE(shards.has_value()) << problems.front();
    EXPECT_EQ(identity_text(shards->whole), identity_text(sweep));
    ASSERT_EQ(write_in_order(folder.path("merged"), shards->parts), std::nullopt);
    EXPECT_EQ(folder.read("merged"), expected);
  }
}

TEST_F(Merging, RefusesGapsDuplicatesAndStrangers) {
  const std::vector<std::string> good = write_shards(sample_sweep(), 3, "good");
  EXPECT_EQ(problems_of({good[0], good[2]}), "shard 2 of 3 is missing\n");
  EXPECT_EQ(problems_of({good[0], good[1], good[1]}),
            good[1] + ": is shard 2 of 3, and so is " + good[1] + "\nshard 3 of 3 is missing\n");
  Sweep other = sample_sweep();
  other.strategies = {"DDP", "ZERO2"};
  const std::vector<std::string> strange = write_shards(other, 3, "strange");
  EXPECT_EQ(problems_of({good[0], strange[1], good[2]}),
            strange[1] + ": is part of another sweep than " + good[0] +
                ": strategies: DDP and ZERO2 there, DDP and ZERO3 here\n");
  const std::vector<std::string> halves = write_shards(sample_sweep(), 2, "half");
  EXPECT_EQ(problems_of({good[0], halves[1]}), halves[1] + ": is part of another sweep than " +
                                                   good[0] + ": shards: 2 there, 3 here\n");
  const std::vector<std::string> partial = write_shards(sample_sweep(), 3, "partial", 0);
  const std::string text = problems_of(partial);
  EXPECT_NE(text.find(": lacks 1 of its 4 rows"), std::string::npos) << text;
  EXPECT_EQ(problems_of({folder.path("none")}),
            folder.path("none") + ": holds no sweep: there is no sweep.json that can be read\n");
  const std::string lines = folder.read("good1/points.jsonl");
  folder.write("good1/points.jsonl", lines + folder.read("good2/points.jsonl"));
  EXPECT_EQ(problems_of(good), points_path(good[0]) + ": has rows of other shards\n");
}

}  // namespace
}  // namespace shardscope::testing
