// What a user can get wrong: exit code 2, the fault and its place on standard error, and nothing
// written anywhere.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sim/files/safetensors.h"
#include "tests/e2e/program.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "not in the text: " << from;
  return text.replace(at, from.size(), to);
}

class BadInput : public ::testing::Test {
 protected:
  // The command must be refused with all of these words and leave the folder as it is.
  void expect_refused(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& words,
                      const ProgramOptions& options = {}) const {
    const std::vector<std::string> before = listing();
    const Outcome outcome = run_program(arguments, options);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " is not in:\n"
                                                           << outcome.err.substr(0, 2000);
    }
    EXPECT_EQ(listing(), before);
  }

  // `run` with every output there is.
  void expect_run_refused(const std::string& scenario, const std::vector<std::string>& more,
                          const std::vector<std::string>& words) const {
    std::vector<std::string> arguments = {"run",
                                          scenario,
                                          "--json",
                                          folder.path("report.json"),
                                          "--save-weights",
                                          folder.path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused(arguments, words);
  }

  void expect_set_refused(const std::string& assignment,
                          const std::vector<std::string>& words) const {
    SCOPED_TRACE(assignment);
    std::vector<std::string> all = words;
    all.push_back("--set " + assignment + ": ");
    expect_run_refused(small, {"--set", assignment}, all);
  }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path("."))) {
      names.push_back(entry.path());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const TemporaryFolder folder;
  const std::string small = folder.write("small.textproto", kSmallScenario);
};

struct Case {
  const char* from;
  const char* to;
  std::vector<std::string> words;  // After the file's name.
};

TEST_F(BadInput, InAFileIsNamedWithItsPlaceFieldValueAndWhatIsAllowed) {
  const std::vector<Case> cases = {
      {"steps: 3", "step: 3", {":4:3: training.step: unknown field", "did you mean \"steps\"?"}},
      {"classroom", "clasroom", {":10:20: cluster.device.preset", "did you mean \"classroom\"?"}},
      {"BF16", "BF61", {":6:14: training.precision: BF61", "did you mean \"BF16\"?", "FP32"}},
      {"BF16", "7", {":6:14: training.precision: 7 is not allowed; one of FP32, BF16, FP16"}},
      {"10Gbps", "10", {":11:21: cluster.link.bandwidth: \"10\" has no unit", "10Gbps"}},
      {"10Gbps", "10us", {":11:21: cluster.link.bandwidth", "us", "Gbps"}},
      {"10Gbps", "0Gbps", {":11:21: cluster.link.bandwidth", "greater than 0"}},
      {"10Gbps", "-1Gbps", {":11:21: cluster.link.bandwidth", "negative"}},
      {"10Gbps", "nanGbps", {":11:21: cluster.link.bandwidth"}},
      {"10Gbps", "infGbps", {":11:21: cluster.link.bandwidth"}},
      {"10Gbps", "1e999Gbps", {":11:21: cluster.link.bandwidth"}},
      {"5us", "5", {":11:39: cluster.link.latency: \"5\" has no unit", "5us"}},
      {"steps: 3", "steps: 0", {":4:10: training.steps: 0 is not allowed", "from 1"}},
      {"steps: 3", "steps: -1", {":4:10: training.steps: -1 is not allowed"}},
      {"steps: 3", "steps: 99999999999999999999", {":4:10: training.steps: 9999999999999999999"}},
      {"steps: 3", "loss_scale: 1e999", {":4:15: training.loss_scale: 1e999 is not allowed"}},
      {"steps: 3", "loss_scale: nan", {":4:15: training.loss_scale: nan is not allowed"}},
      {"steps: 3", "optimizer { learning_rate: inf }", {":4:30: training.optimizer.learning_rate"}},
      {"steps: 3", "optimizer { beta1: 1 }", {":4:22: training.optimizer.beta1: 1"}},
      {"global_batch: 8",
       "global_batch: 9",
       {":5:17: training.global_batch: 9", "multiple", "(4)"}},
      {"[6, 10, 4]", "[6]", {":2:18: model.layers", "two"}},
      {"[6, 10, 4]", "[6, 0]", {":2:21: model.layers: 0 is not allowed"}},
      {"world_size: 4", "world_size: 0", {":9:15: cluster.world_size: 0 is not allowed"}},
      {"world_size: 4", "world_size: 1e9", {":9:15: cluster.world_size: 1e9 is not allowed"}},
      {"world_size: 4", "", {":8:1: cluster.world_size: missing"}},
      {"model {", "model", {":2:13: syntax error"}},
      {"layers: [6, 10, 4]",
       "layers: [6, 10, 4] weights_file: \"none\"",
       {":2:42: model.weights_file", "\"none\" does not exist"}},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(std::string(bad.from) + " replaced by " + bad.to);
    const std::string path =
        folder.write("bad.textproto", replaced(kSmallScenario, bad.from, bad.to));
    std::vector<std::string> words = bad.words;
    words.front() = path + words.front();
    expect_run_refused(path, {}, words);
    expect_refused({"check", path}, words);
  }
}

TEST_F(BadInput, OfOneFileIsReportedAllTogether) {
  const std::string path = folder.write("bad.textproto", R"(nam: "x"
model { layers: [8, -8] activation: SIGMOID }
training { steps: nan precision: 7 }
cluster { world_size: 0 link { bandwidth: "fast" } }
)");
  expect_run_refused(path, {"--set", "training.speed=1"},
                     {path + ":1:1: nam", "\"name\"", path + ":2:21: model.layers: -8",
                      path + ":2:37: model.activation: SIGMOID",
                      path + ":3:19: training.steps: nan", path + ":3:34: training.precision: 7",
                      path + ":4:23: cluster.world_size: 0", path + ":4:43: cluster.link.bandwidth",
                      "cluster.device", "--set training.speed=1: training.speed: unknown field"});
}

TEST_F(BadInput, InSetNamesTheArgument) {
  expect_set_refused("training.steps=0", {"training.steps: 0 is not allowed"});
  expect_set_refused("training.stpes=5", {"training.stpes", "did you mean \"steps\"?"});
  expect_set_refused("cluster.link.latency=5", {"cluster.link.latency: \"5\" has no unit"});
  expect_set_refused("training.steps", {"is not FIELD=VALUE"});
  expect_set_refused("model.layers=[8", {"model.layers"});
  expect_set_refused("training.global_batch=6", {"multiple of cluster.world_size (4)"});
  expect_set_refused("cluster.device.preset=b200", {"a100-40g, a100-80g"});
}

TEST_F(BadInput, InOptions) {
  expect_run_refused(small, {"--strategy", "ZERO1,ZERO9"}, {"--strategy", "ZERO9", "\"ZERO1\""});
  expect_run_refused(small, {"--strategy", "DDP,DDP"}, {"listed twice"});
  for (const char* option : {"--strategy", "--json", "--html", "--save-weights"}) {
    expect_refused({"run", small, option, ""}, {option, "must not be empty"});
  }
  for (const char* threads : {"0", "-1", "two", "1e9"}) {
    expect_run_refused(small, {"--threads", threads}, {"--threads"});
  }
  expect_run_refused(small, {"--fast"}, {"--fast"});
  // What a terminal would obey is not passed on to it.
  expect_refused({"check", folder.path("no\033[31mfile")}, {"no?[31mfile"});
  expect_run_refused(small, {"another.textproto"}, {"another.textproto"});
  expect_refused({}, {"subcommand"});
  expect_refused({"rnu", small}, {"rnu: no such command", "did you mean \"run\"?"});
  expect_refused({"run"}, {"scenario"});
  expect_refused({"run", small, "--json"}, {"--json"});
  expect_refused({"check"}, {"scenario"});
  expect_refused({"init"}, {"file"});
  expect_refused({"schema", "extra"}, {"extra"});
}

TEST_F(BadInput, OfAnExplanation) {
  expect_refused({"explain", shipped("quickstart"), "--step", "21"},
                 {"cluster.world_size: 8 ranks", "2 to 4, e.g. --set cluster.world_size=2",
                  "model.layers: 394,368 parameters", "at most 64, e.g. --set model.layers=[2,2,1]",
                  "--step 21: the scenario has 20 steps"});
  expect_refused({"explain", shipped("explain"), "--set", "training.arithmetic=NONE"},
                 {"training.arithmetic: NONE", "REAL"});
  for (const char* step : {"0", "-1", "two", "1e9", ""}) {
    expect_refused({"explain", shipped("explain"), "--step", step}, {"--step"});
  }
  expect_refused({"explain", shipped("explain"), "--strategy", "ZERO9"}, {"ZERO9"});
  expect_refused({"explain", shipped("explain"), "--strategy", ""}, {"must not be empty"});
  expect_refused({"explain", folder.path("none")}, {folder.path("none"), "No such file"});
  expect_refused({"explain"}, {"scenario"});
  expect_refused({"explain", shipped("explain")},
                 {"standard output: cannot be written: No space left on device"},
                 {.stdout_path = "/dev/full"});
}

TEST_F(BadInput, OfTheTableOfFormulas) {
  const auto expect = [&](const char* parameters, const char* ranks, const char* precision,
                          const std::vector<std::string>& words) {
    expect_refused({"memory", "--parameters", parameters, "--world-size", ranks, "--precision",
                    precision, "--json", folder.path("table.json")},
                   words);
  };
  expect("lots,0", "0,1.5", "fp8",
         {"\"lots\"", "\"0\"", "\"1.5\"", "--world-size", "\"fp8\"", "fp32, bf16 and fp16"});
  for (const char* number : {"-1", "nan", "inf", "1e999", "1e16", "0.5", ""}) {
    expect(number, "1", "bf16", {"--parameters"});
    expect("1", number, "bf16", {"--world-size"});
  }
  expect_refused({"memory", "--world-size", "1"}, {"--parameters"});
  expect("5,7,5", "8,16,8", "bf16",
         {"--parameters: 5 is there twice", "--world-size: 8 is there twice"});
  expect_refused({"memory", "--parameters", "1000,x", "--world-size", "1", "--precision", "fp32",
                  "--largest-layer", "2k"},
                 {"\"x\"", "at most the model's 1,000 parameters", "bf16 and fp16"});
  expect_refused({"memory", "--parameters", "1000", "--world-size", "0", "--largest-layer", "all"},
                 {"--world-size", "--largest-layer: \"all\""});
}

TEST_F(BadInput, ThatIsNoScenario) {
  fs::create_directory(folder.path("directory"));
  expect_run_refused(folder.path("directory"), {}, {"is a directory"});
  expect_run_refused(folder.path("none"), {}, {folder.path("none"), "No such file"});
  expect_run_refused(folder.write("empty", ""), {}, {"is empty"});
  expect_run_refused(folder.write("binary", std::string("\0\1\2\3", 4)), {}, {"not a text file"});
  expect_run_refused(SHARDSCOPE_PROGRAM, {}, {SHARDSCOPE_PROGRAM ": "});
  expect_run_refused(folder.write("empty", ""), {}, {"is empty"});
  expect_run_refused(folder.write("large", std::string((1 << 20) + 1, ' ')), {}, {"too large"});
  for (const std::string device : {"/dev/null", "/dev/zero"}) {
    expect_run_refused(device, {}, {device + ": is neither a file nor a pipe; a text file"});
  }
  expect_run_refused("", {}, {});
  for (const char* braces : {"a { ", "{", "model { ", "a: [", "[a.b] { "}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
      deep += braces;
    }
    expect_run_refused(folder.write("deep", deep), {}, {"nested too deeply"});
  }
}

// ---- Outputs ----

TEST_F(BadInput, OutputsThatCannotBeWrittenAreSaidBeforeAnythingRuns) {
  fs::create_directory(folder.path("directory"));
  folder.write("file", "kept");
  const std::string missing = folder.path("none/report.json");
  for (const std::string& path :
       {folder.path("directory"), missing, folder.path("file/report.json")}) {
    SCOPED_TRACE(path);
    expect_refused({"run", small, "--json", path}, {"cannot be written"});
    expect_refused({"run", small, "--html", path}, {"cannot be written"});
    expect_refused({"run", small, "--json", path, "--save-weights", folder.path("out")},
                   {"cannot be written"});
    expect_refused({"memory", "--parameters", "1", "--world-size", "1", "--json", path},
                   {"cannot be written"});
  }
  expect_refused({"run", small, "--save-weights", folder.path("file")}, {folder.path("file")});
  expect_refused({"run", small, "--save-weights", folder.path("file/out")}, {"is not a folder"});
  expect_refused(
      {"run", small, "--save-weights", folder.path("out"), "--set", "training.arithmetic=NONE"},
      {"--save-weights", "NONE"});
  EXPECT_EQ(folder.read("file"), "kept");
}

TEST_F(BadInput, OutputsThatWouldReplaceAnInputOrEachOther) {
  const std::string kept = folder.read("small.textproto");
  fs::create_symlink(small, folder.path("link.json"));
  for (const std::string& path :
       {small, folder.path("./small.textproto"), folder.path("link.json")}) {
    expect_refused({"run", small, "--json", path}, {"--json", "is also the scenario"});
    expect_refused({"run", small, "--html", path}, {"--html", "is also the scenario"});
  }
  const std::string weights = folder.path("out/ZERO3.safetensors");
  expect_refused({"run", small, "--strategy", "ZERO3", "--save-weights", folder.path("out"),
                  "--json", weights},
                 {"--save-weights", weights, "an output of --json"});
  const std::string report = folder.path("report");
  expect_refused({"run", small, "--json", report, "--html", report},
                 {"--html", report, "an output of --json"});
  expect_refused({"run", small, "--json", "-", "--html", "-"},
                 {"--html: standard output is also an output of --json"});
  EXPECT_EQ(folder.read("small.textproto"), kept);
}

TEST_F(BadInput, OutputsOfAPlan) {
  fs::create_directory(folder.path("directory"));
  const std::string model = folder.write("config.json", "{}");
  const std::string config = folder.write("ds_config.json", "{}");
  for (const char* option : {"--json", "--html"}) {
    SCOPED_TRACE(option);
    for (const char* path : {"directory", "none/plan", "config.json/plan"}) {
      expect_refused({"plan", small, option, folder.path(path)},
                     {folder.path(path), "cannot be written"});
    }
    expect_refused({"plan", small, option, small}, {option, "is also the scenario"});
    expect_refused({"plan", small, "--hf-config", model, option, model},
                   {option, model, "is also the model, which it would replace"});
    expect_refused({"plan", small, "--deepspeed", config, option, folder.path("./ds_config.json")},
                   {option, "is also the configuration of DeepSpeed"});
    expect_refused({"plan", "--cluster", small, option, small}, {option, "is also the cluster"});
    expect_refused({"plan", small, option, ""}, {option, "must not be empty"});
    expect_refused({"plan", small, option}, {option});
    expect_refused({"plan", small, "--strategy", "DDP", option, "/dev/full"},
                   {"/dev/full: cannot be written: No space left on device"});
  }
  const std::string plan = folder.path("plan");
  expect_refused({"plan", small, "--json", plan, "--html", plan},
                 {"--html", plan, "an output of --json"});
  expect_refused({"plan", small, "--json", "-", "--html", "-"},
                 {"--html: standard output is also an output of --json"});
  // All at once.
  expect_refused({"plan", small, "--ranks", "0", "--json", small, "--html", folder.path("none/p")},
                 {"--ranks", "--json", "is also the scenario", "none/p"});
}

TEST_F(BadInput, InWhatATraceCovers) {
  const std::string trace = folder.path("trace.json");
  for (const char* steps : {"0..1", "3..2", "2..9", "..", "1..", "..2", "1...2", "a", "", "1.5",
                            "-1..2", "99999999999999999999"}) {
    expect_refused({"run", small, "--trace", trace, "--trace-steps", steps},
                   {"--trace-steps: ", "1 <= A <= B <= 3"});
  }
  expect_refused({"run", small, "--trace-steps", "1..2"}, {"--trace-steps", "no --trace"});
  expect_refused({"run", small, "--trace", "-"}, {"--trace", "a file"});
  expect_refused({"run", small, "--trace", small}, {"--trace", "is also the scenario"});
  expect_refused({"run", small, "--trace", trace, "--json", trace},
                 {"--trace", "an output of --json"});
  EXPECT_FALSE(fs::exists(trace));
}

TEST_F(BadInput, AFullDiskIsAFault) {
  for (const char* option : {"--json", "--html"}) {
    expect_refused({"run", small, option, "/dev/full"},
                   {"/dev/full: cannot be written: No space left on device"});
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", small},
        std::vector<std::string>{"run", small, "--json", "-"},
        std::vector<std::string>{"run", small, "--html", "-"}, std::vector<std::string>{"schema"},
        std::vector<std::string>{"check", small},
        std::vector<std::string>{"memory", "--parameters", "1", "--world-size", "1"}}) {
    expect_refused(arguments, {"standard output: cannot be written: No space left on device"},
                   {.stdout_path = "/dev/full"});
  }
}

TEST_F(BadInput, HelpOnAFullDiskFails) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, std::vector<std::string>{"run", "--help"},
        std::vector<std::string>{"--version"}}) {
    const Outcome outcome = run_program(arguments, {.stdout_path = "/dev/full"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "standard output: cannot be written: No space left on device\n");
  }
}

TEST_F(BadInput, AFileThatMayNotGrowIsAFault) {
  expect_refused({"run", small, "--json", folder.path("report.json")},
                 {"report.json: cannot be written: File too large"}, {.file_bytes = 4096});
}

// As of check <(command).
TEST_F(BadInput, ComesThroughAPipeToo) {
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << "nmae: \"x\"\n"; });
  expect_refused({"check", pipe}, {pipe + ":1:1: nmae", "name"});
}

// ---- Options ----

TEST_F(BadInput, OfAnOptionIsSaidInWordsOfThisProgram) {
  const auto expect_first_line = [&](const std::vector<std::string>& arguments,
                                     const std::string& line) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err.substr(0, line.size()), line);
  };
  expect_first_line({"run", small, "--json", "a", "--json", "b"},
                    "--json: is given 2 times, as a and b; once at most\n");
  expect_first_line({"sweep", small, "--out", "a", "--out", "b", "--out", "c"},
                    "--out: is given 3 times, as a, b and c; once at most\n");
  expect_first_line({"run", small, "--threads", "0"},
                    "--threads: 0 is not allowed; a whole number from 1 to 1024\n");
  expect_first_line({"sweep", small, "--out", "none", "--jobs", "1.5"},
                    "--jobs: 1.5 is not allowed; a whole number from 1 to 1024\n");
  expect_first_line({"explain", small, "--step", "99999999999999999999"},
                    "--step: 99999999999999999999 is not allowed; a whole number from 1 to "
                    "1000000\n");
  expect_first_line({"run", small, "--json"}, "--json: has no value; --json FILE\n");
  expect_first_line({"run", small, "--set"}, "--set: has no value; --set FIELD=VALUE\n");
  expect_first_line({"run", small, "--quiet=maybe"}, "--quiet=maybe: takes no value; ");
  expect_first_line({"run", small, "--thread", "2"},
                    "run: --thread: no such option; did you mean \"--threads\"? (one of ");
  expect_first_line({"--quiet", "run", small},
                    "--quiet: stands before run, whose option it is; behind it\n");
  expect_first_line({"init", "a", "b"}, "b: is an argument too many\n");
}

// ---- The host's memory ----

TEST_F(BadInput, ARunThatTheMachineCannotHoldSaysHowMuchItTakes) {
  const std::vector<std::string> arguments = {"run",    small,
                                              "--json", folder.path("report.json"),
                                              "--set",  "model.layers=[1000000,1000000]",
                                              "--set",  "cluster.device.memory=1PiB"};
  expect_refused(arguments, {small, "DDP", "of this machine's memory", "TB", "are available",
                             "training.arithmetic: NONE"});
}

TEST_F(BadInput, AnAddressSpaceThatIsTooSmallIsLikeAMachineThatIs) {
  if (kSanitized) {
    GTEST_SKIP() << "takes more address space";
  }
  const ProgramOptions small_machine = {.address_space_bytes = 1'000'000'000};
  // 16 B x 20e6 parameters on each of 4 ranks.
  expect_refused({"run", small, "--set", "model.layers=[4000,5000]", "--set",
                  "cluster.device.memory=1TiB", "--strategy", "DDP"},
                 {"DDP takes about 1.3", "GB", "1 GB are available"}, small_machine);
  const Outcome outcome = run_program({"run", small, "--quiet"}, small_machine);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

// ---- Weights and batches ----

class BadFiles : public BadInput {
 protected:
  using Tensors = std::vector<SafetensorsTensor>;

  std::string write(const Tensors& tensors) const {
    SafetensorsWriter writer(folder.path("tensors"), tensors);
    for (const SafetensorsTensor& tensor : tensors) {
      std::size_t count = 1;
      for (const std::uint64_t extent : tensor.shape) {
        count *= extent;
      }
      const std::string zeros(count * size_of(tensor.dtype), '\0');
      writer.write(zeros.data(), zeros.size());
    }
    EXPECT_EQ(writer.finish(), std::nullopt);
    return folder.path("tensors");
  }

  void expect_weights_refused(const std::string& path,
                              const std::vector<std::string>& words) const {
    std::vector<std::string> all = words;
    all.push_back(path + ": ");
    expect_run_refused(small, {"--set", "model.weights_file=" + path}, all);
    expect_refused({"check", small, "--set", "model.weights_file=" + path}, all);
  }

  const Tensors weights = {{"layers.0.weight", DType::fp32, {10, 6}},
                           {"layers.0.bias", DType::fp32, {10}},
                           {"layers.1.weight", DType::fp32, {4, 10}},
                           {"layers.1.bias", DType::fp32, {4}}};
};

TEST_F(BadFiles, WeightsThatDoNotFit) {
  run_json(small, {"--set", "model.weights_file=" + write(weights)});  // These do.
  Tensors wrong = weights;
  wrong.pop_back();
  expect_weights_refused(write(wrong), {"\"layers.1.bias\": missing", "[4]"});
  wrong = weights;
  wrong[0].shape = {6, 10};
  wrong[1].dtype = DType::int64;
  wrong[2].name = "layers.1.wieght";
  expect_weights_refused(write(wrong),
                         {"\"layers.0.weight\": shape [6, 10]; expected [10, 6]",
                          "\"layers.0.bias\": dtype I64; allowed: F32, F16, BF16",
                          "\"layers.1.weight\": missing", "did you mean \"layers.1.weight\"?"});
}

TEST_F(BadFiles, FilesThatAreDamaged) {
  const std::string path = write(weights);
  const std::string good = folder.read("tensors");
  const auto expect = [&](const std::string& content) {
    expect_weights_refused(folder.write("tensors", content), {});
  };
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100}, good.size() - 1}) {
    SCOPED_TRACE("cut to " + std::to_string(length) + " bytes");
    expect(good.substr(0, length));
  }
  expect(good + "x");
  const auto headed = [](std::uint64_t length, const std::string& header) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    return text + header;
  };
  expect(headed(~std::uint64_t{0}, "{}"));
  expect(headed(std::uint64_t{1} << 40, "{}"));
  for (const std::string& header :
       {std::string("{}"), std::string("[]"), std::string("null"), std::string(100'000, '['),
        std::string(R"({"layers.0.weight":{"dtype":"F32","shape":[10,6],"data_offsets":[0,1]}})"),
        std::string(R"({"layers.0.weight":{"dtype":"F32","shape":[4294967296,4294967296],)"
                    R"("data_offsets":[0,0]}})"),
        std::string(
            R"({"layers.0.weight":{"dtype":"F32","shape":[-10,6],"data_offsets":[0,240]}})"),
        std::string("{\"\\u0000\\uD800\":1}"), std::string("\xff\xfe{}")}) {
    SCOPED_TRACE(header.substr(0, 80));
    expect(headed(header.size(), header));
  }
  expect_run_refused(small, {"--set", "model.weights_file=" + folder.path(".")}, {"directory"});
}

TEST_F(BadFiles, BatchesThatDoNotFit) {
  const auto expect = [&](const Tensors& tensors, const std::string& more,
                          const std::vector<std::string>& words) {
    expect_run_refused(small, {"--set", "data.file=" + write(tensors), "--set", more}, words);
  };
  const SafetensorsTensor x = {"x", DType::fp32, {3, 8, 6}};
  const SafetensorsTensor y = {"y", DType::fp32, {3, 8, 4}};
  run_json(small, {"--set", "data.file=" + write({x, y})});
  expect({x}, "training.steps=3", {"\"y\": missing"});
  expect({x, y}, "training.steps=4", {"\"x\": shape [3, 8, 6]", "at least [4, 8, 6]"});
  expect({x, y}, "model.loss=CROSS_ENTROPY", {"\"y\": dtype F32; allowed: I64"});
  expect({x, {"y", DType::int64, {3, 8}}}, "model.loss=MSE", {"\"y\": dtype I64"});
}

}  // namespace
}  // namespace shardscope::testing
