// The checkpoint commands as a user meets them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace shardscope::testing
