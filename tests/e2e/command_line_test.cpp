// The program's commands and options, as a user meets them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/training/strategy.h"
#include "sim/files/safetensors.h"
#include "tests/e2e/program.h"
#include "tests/e2e/report_checks.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

void expect_success(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

void expect_mentions(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in:\n" << text;
  }
}

class CommandLine : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string small = folder.write("small.textproto", kSmallScenario);
};

TEST_F(CommandLine, HelpAndVersion) {
  const Outcome help = run_program({"--help"});
  expect_success(help);
  expect_mentions(help.out, {"run", "sweep", "merge", "explain", "memory", "platforms", "check",
                             "checkpoint", "init", "schema", "Examples:", "Exit codes"});
  for (const char* command : {"run", "sweep", "merge", "explain", "memory", "platforms", "check",
                              "checkpoint", "init", "schema"}) {
    expect_success(run_program({command, "--help"}));
  }
  expect_mentions(run_program({"run", "--help"}).out, {"--set", "--strategy", "--json", "--html",
                                                       "--save-weights", "--threads", "--quiet"});
  const Outcome version = run_program({"--version"});
  expect_success(version);
  EXPECT_EQ(version.out.substr(0, 11), "shardscope ");
}

TEST_F(CommandLine, RunsEachStrategy) {
  for (const Strategy& strategy : all_strategies()) {
    const std::string name(strategy.name);
    std::vector<std::string> arguments = {"--strategy", name};
    if (strategy.framework == Framework::deepspeed) {  // Its buffers are larger than the device.
      arguments.insert(arguments.end(), {"--set", "options.bucket_elements=50"});
    }
    const Json::Value report = run_json(small, arguments);
    check_report(report);
    ASSERT_EQ(report["runs"].size(), 1U);
    const Json::Value& run = report["runs"][0];
    EXPECT_EQ(run["strategy"], name);
    EXPECT_EQ(run["outcome"], "completed");
    EXPECT_EQ(run["world_size"], 4);
    EXPECT_EQ(run["parameters"], 6 * 10 + 10 + 10 * 4 + 4);
    EXPECT_EQ(run["weights_digest"].asString().size(), 16U);
    ASSERT_EQ(run["steps"].size(), 3U);
    for (const Json::Value& step : run["steps"]) {
      EXPECT_TRUE(step["loss"].isDouble());
      EXPECT_TRUE(step["grad_norm"].isDouble());
    }
    arguments.insert(arguments.begin(), {"run", small});
    const Outcome text = run_program(arguments);
    expect_success(text);
    expect_mentions(text.out, {name});
  }
}

TEST_F(CommandLine, RunsTheStrategiesThatAreNamedInTheirOrder) {
  const Json::Value report = run_json(small, {"--strategy", "ZERO3,DDP"});
  ASSERT_EQ(report["runs"].size(), 2U);
  EXPECT_EQ(report["runs"][0]["strategy"], "ZERO3");
  EXPECT_EQ(report["runs"][1]["strategy"], "DDP");
}

TEST_F(CommandLine, TheTextReportFitsAnyTerminalAndHasNoColourInAFile) {
  const Outcome whole = run_program({"run", small});
  const Outcome quiet = run_program({"run", small, "--quiet"});
  expect_success(whole);
  expect_success(quiet);
  EXPECT_LT(quiet.out.size(), whole.out.size());
  EXPECT_EQ(whole.out.find('\033'), std::string::npos);
  for (std::size_t begin = 0; begin < whole.out.size();) {
    const std::size_t end = whole.out.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - begin, 80U) << whole.out.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST_F(CommandLine, JsonOnStandardOutputStandsAlone) {
  const Outcome outcome = run_program({"run", small, "--json", "-"});
  expect_success(outcome);
  EXPECT_EQ(outcome.out.front(), '{');
  EXPECT_EQ(outcome.out.substr(outcome.out.size() - 2), "}\n");
  check_report(parse_json(outcome.out));
}

TEST_F(CommandLine, JsonInAFileComesBesideTheText) {
  const std::string path = folder.path("report.json");
  const Outcome both = run_program({"run", small, "--json", path});
  expect_success(both);
  EXPECT_EQ(both.out, run_program({"run", small}).out);
  EXPECT_EQ(folder.read("report.json"), run_program({"run", small, "--json", "-"}).out);
  // A relative path is one of the current directory, not of the scenario's folder.
  fs::create_directory(folder.path("here"));
  expect_success(run_program({"run", "../small.textproto", "--json", "r.json"},
                             {.folder = folder.path("here")}));
  EXPECT_TRUE(fs::exists(folder.path("here/r.json")));
}

TEST_F(CommandLine, AHtmlPageComesBesideTheOtherReports) {
  const std::string path = folder.path("report.html");
  const Outcome all =
      run_program({"run", small, "--html", path, "--json", folder.path("report.json")});
  expect_success(all);
  EXPECT_EQ(all.out, run_program({"run", small}).out);
  EXPECT_EQ(folder.read("report.json"), run_program({"run", small, "--json", "-"}).out);
  EXPECT_EQ(folder.read("report.html"), run_program({"run", small, "--html", "-"}).out);
  expect_mentions(folder.read("report.html").substr(0, 100), {"<!doctype html>"});
}

TEST_F(CommandLine, APageOfAPlanComesBesideTheOtherReports) {
  const std::vector<std::string> plan = {"plan",      small,           "--strategy",
                                         "DDP,ZERO3", "--micro-batch", "1"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = plan;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    expect_success(outcome);
    return outcome.out;
  };
  const std::string text =
      run({"--html", folder.path("plan.html"), "--json", folder.path("plan.json")});
  EXPECT_EQ(text, run({}));
  EXPECT_EQ(folder.read("plan.json"), run({"--json", "-"}));
  EXPECT_EQ(folder.read("plan.html"), run({"--html", "-"}));
  expect_mentions(folder.read("plan.html").substr(0, 100), {"<!doctype html>"});
}

// The table had fewer cells in the rows of those.
TEST_F(CommandLine, APlanOfCandidatesThatDoNotFitIsATable) {
  const Outcome outcome = run_program({"plan", small, "--strategy", "DDP", "--micro-batch", "1",
                                       "--set", "cluster.device.memory=100B"});
  expect_success(outcome);
  expect_mentions(outcome.out, {"Nothing fits.", "DDP"});
}

TEST_F(CommandLine, WhatIsNotANumberIsNull) {
  const Outcome outcome =
      run_program({"run", small, "--json", "-", "--set", "training.optimizer.learning_rate=1e38"});
  expect_success(outcome);
  const Json::Value report = parse_json(outcome.out);  // In strict JSON there is no NaN.
  check_report(report);
  for (const Json::Value& run : report["runs"]) {
    EXPECT_TRUE(run["steps"][0]["loss"].isDouble());
    const Json::Value& last = run["steps"][2];
    EXPECT_TRUE(last.isMember("loss") && last["loss"].isNull()) << last;
    EXPECT_TRUE(last.isMember("grad_norm") && last["grad_norm"].isNull()) << last;
  }
}

TEST_F(CommandLine, AnOverflowOfFp16IsNull) {
  const Json::Value report =
      run_json(small, {"--set", "training.precision=FP16", "--set", "training.loss_scale=1e30"});
  for (const Json::Value& run : report["runs"]) {
    EXPECT_TRUE(run["steps"][0]["loss"].isDouble());
    EXPECT_TRUE(run["steps"][0]["grad_norm"].isNull());
  }
}

TEST_F(CommandLine, SavesWeightsThatLoad) {
  expect_success(run_program({"run", small, "--save-weights", folder.path("a/b")}));
  for (const Strategy& strategy : paper_strategies()) {
    std::vector<std::string> faults;
    const auto file = SafetensorsFile::open(
        folder.path("a/b/" + std::string(strategy.name) + ".safetensors"), faults);
    ASSERT_NE(file, nullptr) << faults.front();
    ASSERT_EQ(file->entries().size(), 4U);
    using Shape = std::vector<std::uint64_t>;
    EXPECT_EQ(file->find("layers.0.weight")->shape, (Shape{10, 6}));
    EXPECT_EQ(file->find("layers.0.bias")->shape, (Shape{10}));
    EXPECT_EQ(file->find("layers.1.weight")->shape, (Shape{4, 10}));
    EXPECT_EQ(file->find("layers.1.bias")->shape, (Shape{4}));
    for (const SafetensorsEntry& entry : file->entries()) {
      EXPECT_EQ(entry.dtype, "F32");
    }
  }
}

TEST_F(CommandLine, ADeviceThatIsTooSmallIsAResult) {
  const Json::Value report = run_json(small, {"--set", "cluster.device.memory=100B"});
  check_report(report);
  for (const Json::Value& run : report["runs"]) {
    EXPECT_EQ(run["outcome"], "out_of_memory");
    EXPECT_EQ(run["out_of_memory"]["rank"], 0);
    EXPECT_FALSE(run.isMember("weights_digest"));
  }
}

TEST_F(CommandLine, ExplainsAStepAsTextAndAsMarkdown) {
  const Outcome text = run_program({"explain", shipped("explain"), "--strategy", "ZERO3,DDP"});
  expect_success(text);
  expect_mentions(text.out, {"ZERO3, step 1 of 3", "DDP, step 1 of 3", "r1 0>1 +"});
  EXPECT_EQ(text.out.find('\033'), std::string::npos);
  const Outcome markdown = run_program(
      {"explain", shipped("explain"), "--step", "2", "--markdown", "--set", "training.steps=2"});
  expect_success(markdown);
  expect_mentions(markdown.out, {"## ZERO1, step 2 of 2", "| p of all ranks |"});
  // A scenario that is too large can be shrunk until it is not.
  expect_success(run_program({"explain", shipped("quickstart"), "--set", "cluster.world_size=4",
                              "--set", "model.layers=[3,4,2]"}));
}

TEST_F(CommandLine, Check) {
  const Outcome good = run_program({"check", small, shipped("quickstart")});
  expect_success(good);
  const std::string digest = run_json(small)["digest"].asString();
  expect_mentions(good.out, {small + ": ok, " + digest, shipped("quickstart") + ": ok, "});
  const std::string bad = folder.write("bad.textproto", "model { layers: 4 }");
  const Outcome mixed = run_program({"check", bad, small});
  EXPECT_EQ(mixed.exit_code, 2);
  expect_mentions(mixed.out, {small + ": ok"});
  expect_mentions(mixed.err, {bad + ":1:17: model.layers: "});
  expect_success(run_program({"check", small, "--set", "training.steps=5"}));
  EXPECT_EQ(run_program({"check", small, "--set", "training.steps=0"}).exit_code, 2);
}

TEST_F(CommandLine, InitWritesAScenarioThatRuns) {
  const std::string path = folder.path("mine.textproto");
  const Outcome first = run_program({"init", path});
  expect_success(first);
  expect_mentions(first.out, {path});
  const std::string written = folder.read("mine.textproto");
  expect_mentions(written, {"# "});
  check_report(run_json(path, {"--set", "training.steps=1"}));

  folder.write("mine.textproto", "mine");
  const Outcome second = run_program({"init", path});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_EQ(second.out, "");
  expect_mentions(second.err, {path, "exists"});
  EXPECT_EQ(folder.read("mine.textproto"), "mine");

  fs::create_symlink("nowhere", folder.path("link"));
  EXPECT_EQ(run_program({"init", folder.path("link")}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder.path("nowhere")));
  EXPECT_EQ(run_program({"init", folder.path("none/x.textproto")}).exit_code, 2);
}

TEST_F(CommandLine, SchemaPrintsTheSchema) {
  const Outcome outcome = run_program({"schema"});
  expect_success(outcome);
  expect_mentions(outcome.out, {"message Scenario", "global_batch", "Default"});
}

struct TableRow {
  int world_size;
  const char* cells[3][3];  // Of 7.5, 128 and 1000 billion parameters, by stage; as printed.
};

// Table 1 of the ZeRO paper (arXiv 1910.02054): GB of model states per device.
const TableRow kTable1[] = {
    {1, {{"120", "120", "120"}, {"2048", "2048", "2048"}, {"16000", "16000", "16000"}}},
    {4, {{"52.5", "41.3", "30"}, {"896", "704", "512"}, {"7000", "5500", "4000"}}},
    {16, {{"35.6", "21.6", "7.5"}, {"608", "368", "128"}, {"4750", "2875", "1000"}}},
    {64, {{"31.4", "16.6", "1.88"}, {"536", "284", "32"}, {"4187", "2218", "250"}}},
    {256, {{"30.4", "15.4", "0.47"}, {"518", "263", "8"}, {"4046", "2054", "62.5"}}},
    {1024, {{"30.1", "15.1", "0.12"}, {"513", "257", "2"}, {"4011", "2013", "15.6"}}},
};

double total_gigabytes(const Json::Value& table, double parameters, int world_size,
                       const std::string& strategy) {
  for (const Json::Value& row : table["rows"]) {
    if (row["parameters"].asDouble() == parameters && row["world_size"] == world_size &&
        row["strategy"] == strategy) {
      return row["total_bytes"].asDouble() / 1e9;
    }
  }
  ADD_FAILURE() << "no row";
  return 0;
}

TEST_F(CommandLine, MemoryGivesTheZeroPapersTable1) {
  const Outcome outcome = run_program({"memory", "--parameters", "7.5e9,128e9,1e12", "--world-size",
                                       "1,4,16,64,256,1024", "--precision", "bf16", "--json", "-"});
  expect_success(outcome);
  const Json::Value table = parse_json(outcome.out);
  int cells = 0;
  for (const TableRow& row : kTable1) {
    for (int m = 0; m < 3; ++m) {
      for (int s = 0; s < 3; ++s) {
        const std::string printed = row.cells[m][s];
        const std::size_t point = printed.find('.');
        const double last_digit =
            point == std::string::npos ? 1 : (printed.size() - point == 2 ? 0.1 : 0.01);
        const std::string strategy = "ZERO" + std::to_string(s + 1);
        // A hair more for shards that round up to whole elements.
        EXPECT_NEAR(total_gigabytes(table, m == 0 ? 7.5e9 : (m == 1 ? 128e9 : 1e12), row.world_size,
                                    strategy),
                    std::stod(printed), last_digit * (1 + 1e-6))
            << strategy << " on " << row.world_size;
        ++cells;
      }
    }
  }
  EXPECT_EQ(cells, 54);
}

TEST_F(CommandLine, MemoryPrintsAndWrites) {
  const std::string path = folder.path("table.json");
  const Outcome outcome = run_program(
      {"memory", "--parameters", "7B", "--world-size", "8", "--precision", "fp32", "--json", path});
  expect_success(outcome);
  expect_mentions(outcome.out, {"DDP", "ZERO3", "7,000,000,000"});
  EXPECT_EQ(parse_json(folder.read("table.json"))["precision"], "fp32");
}

TEST_F(CommandLine, MemoryShowsDeepSpeedsEstimates) {
  const std::string path = folder.path("table.json");
  const Outcome outcome = run_program({"memory", "--parameters", "2851M", "--world-size", "8",
                                       "--largest-layer", "32899072", "--json", path});
  expect_success(outcome);
  expect_mentions(outcome.out, {"11.28", "6.10", "0.79", "What they leave out"});
  const Json::Value estimates = parse_json(folder.read("table.json"))["deepspeed_estimates"];
  EXPECT_EQ(estimates["rows"].size(), 4U);
}

// ---- The catalogue ----

TEST_F(CommandLine, PlatformsListsTheCatalogue) {
  const std::string path = folder.path("platforms.json");
  const Outcome outcome = run_program({"platforms", "--json", path});
  expect_success(outcome);
  const Json::Value json = parse_json(folder.read("platforms.json"));
  for (const char* list : {"devices", "nodes", "fabrics"}) {
    for (const Json::Value& entry : json[list]) {
      expect_mentions(outcome.out, {"\n  " + entry["name"].asString() + " "});
    }
  }
  EXPECT_EQ(run_program({"platforms", "--json", "-"}).out, folder.read("platforms.json"));
}

TEST_F(CommandLine, PlatformsShowsAnEntryWithTheTextOfItsFile) {
  for (const std::string entry : {"devices/t4-16g", "nodes/p5.48xlarge", "fabrics/hdr-200"}) {
    const std::string name = fs::path(entry).filename().string();
    const Outcome outcome = run_program({"platforms", name});
    expect_success(outcome);
    std::ifstream file(SHARDSCOPE_SOURCE_DIR "/platforms/" + entry + ".textproto");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_NE(text, "");
    expect_mentions(outcome.out, {name + ": a ", "/platforms/" + entry + ".textproto:\n\n" + text});
    const Json::Value json = parse_json(run_program({"platforms", name, "--json", "-"}).out);
    EXPECT_EQ(json["devices"].size() + json["nodes"].size() + json["fabrics"].size(), 1U);
  }
}

TEST_F(CommandLine, PlatformsRefusesUnknownNames) {
  const Outcome outcome = run_program({"platforms", "dgx-a10"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  expect_mentions(outcome.err,
                  {"platforms: dgx-a10: is not in the catalogue; did you mean \"dgx-a100\"?"});
  EXPECT_EQ(run_program({"platforms", ""}).exit_code, 2);
  EXPECT_EQ(run_program({"platforms", "../devices/classroom"}).exit_code, 2);
}

// ---- Where the program lies ----

TEST_F(CommandLine, AnInstalledProgramRunsWhereverItIsPut) {
  const std::string prefix = folder.path("prefix");
  const Outcome install = run_program({"--install", SHARDSCOPE_BUILD_DIR, "--prefix", prefix},
                                      {.program = SHARDSCOPE_CMAKE});
  ASSERT_EQ(install.exit_code, 0) << install.err;
  fs::rename(prefix, folder.path("elsewhere"));
  fs::create_directory(folder.path("cwd"));
  fs::create_symlink("../elsewhere/bin/shardscope", folder.path("cwd/link"));
  for (const char* program : {"elsewhere/bin/shardscope", "cwd/link"}) {
    const ProgramOptions options = {.program = folder.path(program), .folder = folder.path("cwd")};
    const Outcome outcome = run_program(
        {"run", shipped("quickstart"), "--quiet", "--set", "training.steps=2"}, options);
    expect_success(outcome);
    expect_mentions(outcome.out, {"quickstart", "ZERO3"});
    expect_mentions(run_program({"schema"}, options).out, {"message Scenario"});
    expect_mentions(run_program({"platforms"}, options).out, {"classroom", "dgx-1v", "hdr-200"});
  }
}

// ---- Shipped scenarios ----

TEST(Scenarios, AllRun) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(SHARDSCOPE_SOURCE_DIR "/scenarios")) {
    const bool long_run =
        entry.path().stem() == "many_ranks" || entry.path().stem() == "zero3_bandwidth";
    if (entry.path().extension() != ".textproto" || (kSanitized && long_run)) {
      continue;
    }
    SCOPED_TRACE(entry.path().filename());
    const Outcome outcome =
        run_program({"run", entry.path(), "--quiet", "--json", "-", "--set", "training.steps=2"});
    expect_success(outcome);
    check_report(parse_json(outcome.out));
    ++count;
  }
  EXPECT_GE(count, kSanitized ? 6 : 7);
}

TEST(Scenarios, ADeviceThatIsTooSmallIsSoForDdpAlone) {
  const Json::Value report = run_json(shipped("too_small_device"));
  for (const Json::Value& run : report["runs"]) {
    EXPECT_EQ(run["outcome"], run["strategy"] == "DDP" ? "out_of_memory" : "completed");
  }
  EXPECT_EQ(run_of(report, "DDP")["out_of_memory"]["phase"], "initialization");
}

// Master weights and two moments in fp32 for 7 billion parameters: 84 GB, on one rank or on eight
// together.
TEST(Scenarios, SevenBillionParametersTake84GBOfOptimizerState) {
  const Json::Value report = run_json(shipped("seven_billion"));
  EXPECT_EQ(run_of(report, "DDP")["outcome"], "out_of_memory");
  for (const char* strategy : {"NAIVE_ZERO", "ZERO1", "ZERO2", "ZERO3"}) {
    const Json::Value& run = run_of(report, strategy);
    EXPECT_EQ(run["outcome"], "completed");
    EXPECT_FALSE(run["steps"][0].isMember("loss"));
    double optimizer = 0;
    for (const Json::Value& rank : run["ranks"]) {
      for (const char* category : {"master_weights", "first_moment", "second_moment"}) {
        optimizer += rank["memory"]["state_bytes"][category].asDouble();
      }
    }
    EXPECT_NEAR(optimizer, 84e9, 0.001e9);
  }
  double zero1 = 0;
  for (const Json::Value& bytes : run_of(report, "ZERO1")["ranks"][0]["memory"]["state_bytes"]) {
    zero1 += bytes.asDouble();
  }
  EXPECT_NEAR(zero1, 38.5e9, 0.05e9);
}

}  // namespace
}  // namespace shardscope::testing
