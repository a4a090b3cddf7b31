// Checkpoints as a user meets them: runs that are stopped and go on, and the commands.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/training/strategy.h"
#include "sim/checkpoint/writer.h"
#include "tests/e2e/program.h"
#include "tests/sim/saved_state.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

struct NamedTensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// A safetensors file of F32 tensors, read by what its format says and by no code of the program.
std::map<std::string, NamedTensor> read_safetensors(const std::string& content) {
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data(), sizeof header_bytes);
  const Json::Value header = parse_json(content.substr(8, header_bytes));
  const std::string data = content.substr(8 + header_bytes);
  std::map<std::string, NamedTensor> tensors;
  for (const std::string& name : header.getMemberNames()) {
    if (name == "__metadata__") {
      continue;
    }
    EXPECT_EQ(header[name]["dtype"], "F32");
    NamedTensor& tensor = tensors[name];
    for (const Json::Value& extent : header[name]["shape"]) {
      tensor.shape.push_back(extent.asUInt64());
    }
    const std::size_t begin = header[name]["data_offsets"][0].asUInt64();
    const std::size_t end = header[name]["data_offsets"][1].asUInt64();
    tensor.values.resize((end - begin) / sizeof(float));
    std::memcpy(tensor.values.data(), data.data() + begin, end - begin);
  }
  return tensors;
}

class CheckpointCommand : public ::testing::Test {
 protected:
  CheckpointCommand() {
    for (auto& vector : state.vectors) {
      for (std::size_t i = 0; i < vector.size(); ++i) {
        vector[i] = static_cast<float>(i) / 8;
      }
    }
    CheckpointWriter writer(folder.path("c"), 2, run_of(model, "ZERO2", 8));
    std::string error;
    const auto saved = writer.write(state.progress, state.cut(owned_by("ZERO2", model, 8)), error);
    EXPECT_TRUE(saved.has_value()) << error;
    step = saved->folder;
  }

  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "checkpoint");
    return run_program(arguments, {.folder = folder.path("")});
  }

  // That of kSmallScenario.
  const ModelSpec model{.widths = {6, 10, 4}, .activation = Activation::relu, .loss = Loss::mse};
  const TemporaryFolder folder;
  SavedState state{model, 1};
  std::string step;
};

void expect_refused(const Outcome& outcome, const std::string& error) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, error);
}

TEST_F(CheckpointCommand, InspectShowsWhatIsSaved) {
  const Outcome text = run({"inspect", "c"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out.rfind("Checkpoint: step 20 of ZERO2 on 8 ranks\n", 0), 0U);
  EXPECT_NE(text.out.find("6-10-4, relu, mse: 114 parameters"), std::string::npos) << text.out;
  const Outcome json = run({"inspect", step, "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const Json::Value manifest = parse_json(json.out);
  EXPECT_EQ(manifest["strategy"], "ZERO2");
  EXPECT_EQ(manifest["files"].size(), 8U);
  EXPECT_EQ(manifest["progress"]["next_batch"], 20);
}

TEST_F(CheckpointCommand, VerifySaysOkOrEveryFault) {
  const Outcome whole = run({"verify", "c"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.out.rfind("c/ZERO2/step-0000020: OK, step 20 of ZERO2 on 8 ranks, 8 files, ", 0),
            0U)
      << whole.out;
  fs::remove(step + "/rank-3.safetensors");
  fs::remove(step + "/rank-5.safetensors");
  expect_refused(run({"verify", "c", "none"}),
                 "c/ZERO2/step-0000020/rank-3.safetensors: missing\n"
                 "c/ZERO2/step-0000020/rank-5.safetensors: missing\n"
                 "none: No such file or directory; a folder step-<steps>, or one that holds such "
                 "folders\n");
}

TEST_F(CheckpointCommand, ReshardWritesTheSameStateForAnotherWorld) {
  const Outcome there =
      run({"reshard", "c", "--world-size", "3", "--strategy", "ZERO1", "--out", "new/three"});
  EXPECT_EQ(there.exit_code, 0) << there.err;
  EXPECT_EQ(there.out, "wrote new/three: step 20 of ZERO1 on 3 ranks\n");
  EXPECT_EQ(run({"verify", "new/three"}).exit_code, 0);
  EXPECT_EQ(run({"consolidate", "c", "--out", "a"}).exit_code, 0);
  EXPECT_EQ(run({"consolidate", "new/three", "--out", "b"}).exit_code, 0);
  EXPECT_EQ(folder.read("a"), folder.read("b"));
  expect_refused(run({"reshard", "c", "--world-size", "3", "--out", "new/three"}),
                 "new/three: cannot be written: it exists already\n");
  EXPECT_EQ(
      run({"reshard", "c", "--world-size", "3", "--strategy", "ZERO9", "--out", "x"}).exit_code, 2);
  EXPECT_EQ(run({"reshard", "c", "--world-size", "0", "--out", "x"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder.path("x")));
}

TEST_F(CheckpointCommand, ConsolidatedWeightsAreReadByOthersAndByScenarios) {
  const Outcome outcome = run({"consolidate", "c", "--out", "w.safetensors"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto tensors = read_safetensors(folder.read("w.safetensors"));
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors.at("layers.0.weight").shape, (std::vector<std::size_t>{10, 6}));
  EXPECT_EQ(tensors.at("layers.1.bias").shape, std::vector<std::size_t>{4});
  std::vector<float> all;
  for (const char* name :
       {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"}) {
    const std::vector<float>& values = tensors.at(name).values;
    all.insert(all.end(), values.begin(), values.end());
  }
  EXPECT_EQ(all, state.vectors[0]);
  const std::string scenario = folder.write("small.textproto", kSmallScenario);
  const Outcome check = run_program(
      {"check", scenario, "--set", "model.weights_file=" + folder.path("w.safetensors")});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  expect_refused(run({"consolidate", "c", "--out", "w.safetensors"}),
                 "w.safetensors: cannot be written: it exists already\n");
}

TEST_F(CheckpointCommand, UnknownCommandsAreNamed) {
  expect_refused(run({"verfy", "c"}),
                 "shardscope checkpoint: verfy: no such command; did you mean \"verify\"? (one of "
                 "inspect, verify, reshard, consolidate)\n");
  for (const char* command : {"inspect", "verify", "reshard", "consolidate"}) {
    EXPECT_EQ(run({command, "--help"}).exit_code, 0);
    EXPECT_EQ(run({command}).exit_code, 2);
  }
}

class ResumedRun : public ::testing::Test {
 protected:
  // All strategies that there are; buckets and thresholds of the model's size.
  static std::string scenario_text() {
    std::string text = kSmallScenario + "strategies: [";
    for (const Strategy& strategy : all_strategies()) {
      text += std::string(strategy.name) + ", ";
    }
    text.replace(text.size() - 2, 2, "]\n");
    return text +
           "options { bucket_size: \"64B\" first_bucket_size: \"16B\" bucket_elements: 40\n"
           "prefetch_elements: 30 persistence_threshold: 5 shard_group_size: 2 }\n";
  }

  std::vector<std::string> until(int steps, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"--set", "training.steps=" + std::to_string(steps)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::vector<std::string> saving(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "--set", "training.checkpoint={directory: \"" + saved + "\" every_steps: 10}", "--set",
        "cluster.storage.bandwidth=1GBps"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  const TemporaryFolder folder;
  const std::string saved = folder.path("saved");
  const std::string scenario = folder.write("all.textproto", scenario_text());
};

TEST_F(ResumedRun, IsTheUninterruptedOneToTheBit) {
  const std::vector<std::vector<std::string>> settings = {
      {},
      {"--set", "training.precision=FP32", "--set", "training.clip_norm=0.1", "--set",
       "training.micro_batches=2"},
      // Skips steps before it is stopped and after.
      {"--set", "training.precision=FP16", "--set",
       "training.dynamic_loss_scale={initial: 67108864 growth_interval: 4}"}};
  for (const std::vector<std::string>& setting : settings) {
    SCOPED_TRACE(setting.empty() ? "as it is" : setting.back());
    const Json::Value straight = run_json(scenario, until(20, setting));
    run_json(scenario, until(10, saving(setting)));
    std::vector<std::string> words = until(20, saving(setting));
    words.insert(words.end(), {"--resume", saved});
    const Json::Value resumed = run_json(scenario, words);
    ASSERT_EQ(resumed["runs"].size(), all_strategies().size());
    for (Json::ArrayIndex i = 0; i < resumed["runs"].size(); ++i) {
      const Json::Value& run = resumed["runs"][i];
      SCOPED_TRACE(run["strategy"].asString());
      EXPECT_EQ(run["weights_digest"], straight["runs"][i]["weights_digest"]);
      ASSERT_EQ(run["steps"].size(), 10U);
      for (Json::ArrayIndex k = 0; k < 10; ++k) {
        const Json::Value& expected = straight["runs"][i]["steps"][10 + k];
        for (const char* name : {"step", "loss", "grad_norm", "loss_scale", "skipped"}) {
          EXPECT_EQ(run["steps"][k][name], expected[name]) << name;
        }
      }
    }
    fs::remove_all(saved);
  }
}

// Ranks reduce in another order, so that bits may differ; what they train does not.
TEST_F(ResumedRun, GoesOnWithAnotherWorldAndStrategy) {
  const std::vector<std::string> fp32 = {"--set", "training.precision=FP32"};
  const Json::Value straight = run_json(scenario, until(20, fp32));
  run_json(scenario, until(10, saving({fp32[0], fp32[1], "--strategy", "ZERO1"})));
  // With 8 ranks some own nothing of the last bias, which lies at the model's end.
  for (const char* ranks : {"2", "8"}) {
    std::vector<std::string> words = until(20, fp32);
    words.insert(words.end(), {"--resume", saved + "/ZERO1", "--set",
                               "cluster.world_size=" + std::string(ranks)});
    const Json::Value resumed = run_json(scenario, words);
    ASSERT_EQ(resumed["runs"].size(), all_strategies().size());
    for (const Json::Value& run : resumed["runs"]) {
      const double loss = straight["runs"][0]["steps"][19]["loss"].asDouble();
      EXPECT_NEAR(run["steps"][9]["loss"].asDouble(), loss, 1e-6 * loss)
          << run["strategy"] << " on " << ranks << " ranks";
      EXPECT_EQ(run["resumed_from"], saved + "/ZERO1/step-0000010");
    }
  }
}

// Of several strategies that share the checkpoint each fault is said once.
TEST_F(ResumedRun, IsRefusedWhereItCannotGoOn) {
  run_json(scenario, until(10, saving({"--strategy", "ZERO1"})));
  const std::string newest = saved + "/ZERO1/step-0000010";
  const auto refused = [&](std::vector<std::string> arguments, const std::string& error) {
    arguments.insert(arguments.begin(), {"run", scenario, "--strategy", "ZERO1,ZERO2"});
    expect_refused(run_program(arguments), error);
  };
  refused({"--resume", saved + "/ZERO1"},
          "--resume: " + newest + " is of step 10, and training.steps is 3; more steps\n");
  refused(
      {"--resume", saved + "/ZERO1", "--set", "model.layers=6,9,4", "--set", "training.steps=11"},
      "--resume: " + newest +
          "/manifest.json: model.widths: [6, 10, 4] is not that of the model; [6, 9, 4]\n");
  refused({"--resume", folder.path("none")},
          "--resume: " + folder.path("none") +
              ": No such file or directory; a folder step-<steps>, or one that holds such "
              "folders\n");
}

TEST_F(ResumedRun, LaterCheckpointsOfAnotherRunAreNotMixedWithItsOwn) {
  const std::vector<std::string> strategy = {"--strategy", "ZERO1"};
  std::vector<std::string> all = until(30, saving(strategy));
  run_json(scenario, all);
  const auto refused = [&](const std::vector<std::string>& more, const std::string& begin) {
    std::vector<std::string> words = until(30, saving(strategy));
    words.insert(words.begin(), {"run", scenario});
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(run_program(words),
                   "training.checkpoint.directory: " + saved +
                       " holds a checkpoint of ZERO1 of step 30, later than step " + begin +
                       ", at which this run begins; --resume goes on from it, another directory "
                       "begins anew\n");
  };
  refused({}, "0");
  refused({"--resume", saved + "/ZERO1/step-0000020"}, "20");
  fs::remove_all(saved + "/ZERO1/step-0000030");
  all.insert(all.end(), {"--resume", saved});
  EXPECT_EQ(run_json(scenario, all)["runs"][0]["steps"].size(), 10U);
}

}  // namespace
}  // namespace shardscope::testing
