// Checkpoints saved, read, cut anew, damaged, and saved by processes that are killed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/checkpoint/inspect.h"
#include "sim/checkpoint/reshard.h"
#include "sim/checkpoint/source.h"
#include "sim/checkpoint/writer.h"
#include "sim/files/weights.h"
#include "tests/sim/saved_state.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

namespace fs = std::filesystem;

const ModelSpec kModel{.widths = {7, 5, 3, 4}, .activation = Activation::tanh, .loss = Loss::mse};

std::string texts(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    text += format_fault(fault) + "\n";
  }
  return text;
}

std::unique_ptr<CheckpointSource> open_whole(const std::string& path) {
  std::vector<Fault> faults;
  auto source = open_checkpoint(path, std::nullopt, faults);
  EXPECT_NE(source, nullptr) << texts(faults);
  return source;
}

std::string faults_of(const std::string& path, std::optional<std::string> strategy = {}) {
  std::vector<Fault> faults;
  const auto source = open_checkpoint(path, strategy, faults);
  EXPECT_EQ(source == nullptr, !faults.empty());
  return texts(faults);
}

/// NaN is equal to itself as well.
bool same_bits(const std::vector<float>& values, const float* expected) {
  return values.empty() || std::memcmp(values.data(), expected, values.size() * sizeof(float)) == 0;
}

void expect_state(const CheckpointSource& source, const SavedState& state) {
  EXPECT_EQ(source.progress().steps, state.progress.steps);
  EXPECT_EQ(source.progress().updates, state.progress.updates);
  EXPECT_EQ(source.progress().loss_scale.scale, state.progress.loss_scale.scale);
  EXPECT_EQ(source.progress().loss_scale.good_steps, state.progress.loss_scale.good_steps);
  EXPECT_EQ(source.progress().loss_scale.hysteresis, state.progress.loss_scale.hysteresis);
  for (std::size_t i = 0; i < kStateVectors.size(); ++i) {
    const std::vector<float>& expected = state.vectors[i];
    std::vector<float> read(expected.size());
    source.read(kStateVectors[i], 0, Tensor::of(read.data(), read.size()));
    EXPECT_TRUE(same_bits(read, expected.data()));
  }
}

ModelSpec random_model(std::mt19937_64& random) {
  ModelSpec model;
  const std::size_t layers = 1 + random() % 4;
  for (std::size_t i = 0; i <= layers; ++i) {
    model.widths.push_back(1 + random() % 20);
  }
  model.activation = random() % 2 == 0 ? Activation::relu : Activation::tanh;
  model.loss = random() % 2 == 0 ? Loss::mse : Loss::cross_entropy;
  return model;
}

/// Every element to one of the ranks, in pieces that begin and end anywhere.
Ownership random_ownership(std::mt19937_64& random, std::size_t parameters, std::size_t ranks) {
  Ownership ownership(ranks);
  for (std::size_t begin = 0; begin < parameters;) {
    const std::size_t end = std::min(parameters, begin + 1 + random() % 40);
    ownership[random() % ranks].push_back({begin, end});
    begin = end;
  }
  return ownership;
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::string directory() const { return folder.path("checkpoints"); }
  std::string strategy_folder() const { return directory() + "/ZERO1"; }

  /// Saves step `steps` of ZERO1 on three ranks; the folder.
  std::string save(std::int64_t steps, std::size_t keep = 100) {
    state.progress.steps = steps;
    state.progress.updates = steps;
    CheckpointWriter writer(directory(), keep, run_of(kModel, "ZERO1", 3));
    std::string error;
    const auto saved = writer.write(state.progress, state.cut(owned_by("ZERO1", kModel, 3)), error);
    EXPECT_TRUE(saved.has_value()) << error;
    return saved.has_value() ? saved->folder : "";
  }

  std::vector<std::string> names(const std::string& in) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(in)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void replace_file(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  /// Replaces in the manifest's text, which must hold it.
  static void edit_manifest(const std::string& checkpoint, const std::string& from,
                            const std::string& to) {
    std::string text = read_file(checkpoint + "/manifest.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in\n" << text;
    replace_file(checkpoint + "/manifest.json", text.replace(at, from.size(), to));
  }

  /// Writes another manifest, its digest right.
  static void change_manifest(const std::string& checkpoint,
                              const std::function<void(CheckpointManifest&)>& change) {
    std::vector<Fault> faults;
    const std::string path = checkpoint + "/manifest.json";
    auto manifest = parse_manifest(read_file(path), path, faults);
    ASSERT_TRUE(manifest.has_value()) << texts(faults);
    change(*manifest);
    replace_file(path, manifest_text(*manifest));
  }

  const TemporaryFolder folder;
  SavedState state{kModel, 1};
};

TEST_F(CheckpointTest, ReadsWhatWasSavedWithEachStrategyAndWorldSize) {
  std::mt19937_64 random(2);
  for (const Strategy& strategy : all_strategies()) {
    for (int world_size = 1; world_size <= 9; ++world_size) {
      const ModelSpec model = random_model(random);
      SavedState saved_state(model, random());
      const std::string name(strategy.name);
      const TemporaryFolder own;
      CheckpointWriter writer(own.path("c"), 1, run_of(model, name, world_size));
      std::string error;
      const auto saved = writer.write(saved_state.progress,
                                      saved_state.cut(owned_by(name, model, world_size)), error);
      ASSERT_TRUE(saved.has_value()) << error;
      EXPECT_EQ(saved->folder, own.path("c/" + name + "/step-0000020"));
      const auto source = open_whole(own.path("c"));
      ASSERT_NE(source, nullptr);
      expect_state(*source, saved_state);
      std::vector<std::uint64_t> bytes;
      for (const CheckpointFile& file : source->manifest().files) {
        bytes.push_back(file.bytes);
        EXPECT_EQ(file.name.empty(), file.ranges.empty());
      }
      EXPECT_EQ(saved->bytes_by_rank, bytes);
      EXPECT_EQ(source->bytes(), std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
    }
  }
}

TEST_F(CheckpointTest, TheManifestSaysWhatTheRunWas) {
  const auto source = open_whole(save(20));
  const CheckpointRun expected = run_of(kModel, "ZERO1", 3);
  const CheckpointRun& run = source->manifest().run;
  EXPECT_EQ(run.program, expected.program);
  EXPECT_EQ(run.scenario, expected.scenario);
  EXPECT_EQ(run.model.widths, kModel.widths);
  EXPECT_EQ(run.model.activation, kModel.activation);
  EXPECT_EQ(run.model.loss, kModel.loss);
  EXPECT_EQ(run.precision, DType::bf16);
  EXPECT_EQ(run.strategy, "ZERO1");
  EXPECT_EQ(run.world_size, 3);
  EXPECT_EQ(run.optimizer.variant, AdamOptions::Variant::adamw);
  EXPECT_EQ(run.optimizer.learning_rate, 1e-3);
  EXPECT_EQ(run.optimizer.beta1, 0.9);
  EXPECT_EQ(run.optimizer.weight_decay, 1.0 / 3);
  EXPECT_EQ(names(source->folder()),
            (std::vector<std::string>{"manifest.json", "rank-0.safetensors", "rank-1.safetensors",
                                      "rank-2.safetensors"}));
}

TEST_F(CheckpointTest, OfAReplicatedStateRankZeroSavesAll) {
  CheckpointWriter writer(directory(), 1, run_of(kModel, "DDP", 12));
  std::string error;
  const auto saved = writer.write(state.progress, state.cut(owned_by("DDP", kModel, 12)), error);
  ASSERT_TRUE(saved.has_value()) << error;
  EXPECT_EQ(names(saved->folder),
            (std::vector<std::string>{"manifest.json", "rank-00.safetensors"}));
  EXPECT_GT(saved->bytes_by_rank[0], 12 * kModel.parameters());
  EXPECT_EQ(saved->bytes_by_rank[11], 0U);
  expect_state(*open_whole(directory()), state);
}

TEST_F(CheckpointTest, AnyRangeIsReadAcrossFiles) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const ModelSpec model = random_model(random);
    SavedState saved_state(model, random());
    const std::size_t ranks = 1 + random() % 9;
    const TemporaryFolder own;
    CheckpointWriter writer(own.path("c"), 1, run_of(model, "ANY", static_cast<int>(ranks)));
    std::string error;
    ASSERT_TRUE(writer.write(saved_state.progress,
                             saved_state.cut(random_ownership(random, model.parameters(), ranks)),
                             error))
        << error;
    const auto source = open_whole(own.path("c"));
    ASSERT_NE(source, nullptr);
    expect_state(*source, saved_state);
    for (int i = 0; i < 50; ++i) {
      const std::size_t begin = random() % (model.parameters() + 1);
      const std::size_t count = random() % (model.parameters() - begin + 1);
      const std::size_t vector = random() % 3;
      std::vector<float> read(count);
      source->read(kStateVectors[vector], begin, Tensor::of(read.data(), count));
      EXPECT_TRUE(same_bits(read, saved_state.vectors[vector].data() + begin));
    }
  }
}

TEST_F(CheckpointTest, PiecesLongerThanABufferAreWhole) {
  const ModelSpec model{.widths = {700, 600, 1}, .activation = Activation::relu, .loss = Loss::mse};
  SavedState large(model, 5);
  CheckpointWriter writer(directory(), 1, run_of(model, "ZERO3", 2));
  std::string error;
  ASSERT_TRUE(writer.write(large.progress, large.cut(owned_by("ZERO3", model, 2)), error)) << error;
  expect_state(*open_whole(directory()), large);
}

TEST_F(CheckpointTest, CutAnewThereAndBackIsTheSameToTheBit) {
  std::mt19937_64 random(4);
  for (const Strategy& from : all_strategies()) {
    const ModelSpec model = random_model(random);
    SavedState saved_state(model, random());
    const std::string name(from.name);
    const TemporaryFolder own;
    CheckpointWriter writer(own.path("c"), 1, run_of(model, name, 8));
    std::string error;
    const auto first =
        writer.write(saved_state.progress, saved_state.cut(owned_by(name, model, 8)), error);
    ASSERT_TRUE(first.has_value()) << error;
    for (int i = 0; i < 3; ++i) {
      const Strategy& to = all_strategies()[random() % all_strategies().size()];
      const std::string other(to.name);
      const std::string there = own.path("new/" + std::to_string(i) + other);
      const std::string back = there + "-back";
      const std::string program = "shardscope 0.1.0";
      ASSERT_TRUE(reshard(*open_whole(first->folder), {other, owned_by(other, model, 3)}, program,
                          there, error))
          << error;
      const auto source = open_whole(there);
      EXPECT_EQ(source->manifest().run.world_size, 3);
      EXPECT_EQ(source->manifest().run.strategy, other);
      expect_state(*source, saved_state);
      ASSERT_TRUE(reshard(*source, {name, owned_by(name, model, 8)}, program, back, error))
          << error;
      EXPECT_EQ(names(back), names(first->folder));
      for (const std::string& file : names(back)) {
        EXPECT_EQ(read_file(back + "/" + file), read_file(first->folder + "/" + file));
      }
    }
  }
}

TEST_F(CheckpointTest, CuttingAnewRefusesWhatExistsAndLeavesNothing) {
  const auto source = open_whole(save(20));
  const ReshardTarget target{"ZERO1", owned_by("ZERO1", kModel, 2)};
  std::string error;
  EXPECT_FALSE(reshard(*source, target, "p", source->folder(), error));
  EXPECT_EQ(error, source->folder() + ": cannot be written: it exists already");
  EXPECT_FALSE(reshard(*source, target, "p", folder.write("file", "x") + "/new", error));
  EXPECT_EQ(folder.read("file"), "x");
  fs::remove(source->folder() + "/rank-2.safetensors");
  EXPECT_FALSE(reshard(*source, target, "p", folder.path("new/sub/checkpoint"), error));
  EXPECT_NE(error.find("rank-2.safetensors: cannot be read any more"), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(folder.path("new")));
}

TEST_F(CheckpointTest, ConsolidatedWeightsAreThoseOfAScenario) {
  for (std::vector<float>& vector : state.vectors) {
    std::iota(vector.begin(), vector.end(), 0.5F);
  }
  const auto source = open_whole(save(20));
  EXPECT_EQ(consolidate(*source, folder.path("w.safetensors")), std::nullopt);
  std::vector<std::string> faults;
  const auto weights = WeightsFile::open(folder.path("w.safetensors"), kModel, faults);
  ASSERT_NE(weights, nullptr) << faults.front();
  std::vector<float> read;
  for (std::size_t i = 0; i < kModel.layer_count(); ++i) {
    for (const LayerTensor part : {LayerTensor::weight, LayerTensor::bias}) {
      const LinearShape shape = kModel.layer(i);
      std::vector<float> values(part == LayerTensor::weight ? shape.weight_elements() : shape.out);
      EXPECT_EQ(weights->read(i, part, 0, values.size(), values.data()), std::nullopt);
      read.insert(read.end(), values.begin(), values.end());
    }
  }
  EXPECT_EQ(read, state.vectors[0]);
  EXPECT_EQ(consolidate(*source, folder.path("w.safetensors")),
            folder.path("w.safetensors") + ": cannot be written: it exists already");
}

TEST_F(CheckpointTest, KeepsTheNewestAndTouchesNothingElse) {
  using Names = std::vector<std::string>;
  fs::create_directories(strategy_folder() + "/step-0000001");  // Not one of ours.
  fs::create_directories(strategy_folder() + "/.shardscope-1-0.folder.tmp/x");
  for (const std::int64_t steps : {10, 20, 30, 40}) {
    save(steps, 2);
  }
  EXPECT_EQ(names(strategy_folder()), (Names{"step-0000001", "step-0000030", "step-0000040"}));
  save(35, 2);  // Of a run that resumed from step 30: what comes later is another's.
  EXPECT_EQ(names(strategy_folder()),
            (Names{"step-0000001", "step-0000030", "step-0000035", "step-0000040"}));
  EXPECT_EQ(open_whole(directory())->progress().steps, 40);
}

TEST_F(CheckpointTest, ACheckpointOfTheSameStepIsReplaced) {
  save(20);
  state.vectors[0][0] = 42;
  const std::string path = save(20);
  expect_state(*open_whole(path), state);
  EXPECT_EQ(names(strategy_folder()), std::vector<std::string>{"step-0000020"});
}

TEST_F(CheckpointTest, WhatIsNoCheckpointIsNotReplaced) {
  fs::create_directories(strategy_folder() + "/step-0000020");
  CheckpointWriter writer(directory(), 1, run_of(kModel, "ZERO1", 3));
  std::string error;
  EXPECT_FALSE(writer.write(state.progress, state.cut(owned_by("ZERO1", kModel, 3)), error));
  EXPECT_EQ(error,
            strategy_folder() + "/step-0000020: cannot be written: it exists and is no checkpoint");
  folder.write("file", "x");
  CheckpointWriter nowhere(folder.path("file"), 1, run_of(kModel, "ZERO1", 3));
  EXPECT_FALSE(nowhere.write(state.progress, state.cut(owned_by("ZERO1", kModel, 3)), error));
  EXPECT_NE(error.find("is not a folder"), std::string::npos) << error;
}

TEST_F(CheckpointTest, WhatCouldNotBeReadIsNotWritten) {
  state.progress.loss_scale.scale = 0;
  CheckpointWriter writer(directory(), 1, run_of(kModel, "ZERO1", 3));
  std::string error;
  EXPECT_FALSE(writer.write(state.progress, state.cut(owned_by("ZERO1", kModel, 3)), error));
  EXPECT_EQ(error, strategy_folder() +
                       "/step-0000020/manifest.json: progress.loss_scale.scale: 0.0 is not "
                       "allowed; a finite number above 0");
  EXPECT_FALSE(fs::exists(directory()));
}

TEST_F(CheckpointTest, AFullDiskLeavesTheCheckpointsThatAreThere) {
  save(10);
  const auto size = fs::file_size(strategy_folder() + "/step-0000010/manifest.json");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t most : {rlim_t{0}, rlim_t{500}, rlim_t{size - 1}}) {
    const rlimit small = {most, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    for (const std::int64_t steps : {10, 20}) {
      state.progress.steps = steps;
      CheckpointWriter writer(directory(), 1, run_of(kModel, "ZERO1", 3));
      std::string error;
      const auto saved =
          writer.write(state.progress, state.cut(owned_by("ZERO1", kModel, 3)), error);
      EXPECT_FALSE(saved.has_value());
      EXPECT_EQ(error.rfind(strategy_folder() + "/step-00000", 0), 0U) << error;
      EXPECT_NE(error.find(": cannot be written: File too large"), std::string::npos) << error;
    }
    const auto error = consolidate(*open_whole(directory()), folder.path("w"));
    EXPECT_EQ(error.has_value(), most <= 500);
    fs::remove(folder.path("w"));
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_EQ(names(strategy_folder()), std::vector<std::string>{"step-0000010"});
  EXPECT_EQ(open_whole(directory())->progress().steps, 10);
}

TEST_F(CheckpointTest, FindsWhatAPathMeans) {
  save(10);
  const std::string newest = save(20);
  for (const std::string& path :
       {directory(), strategy_folder(), strategy_folder() + "/", newest, newest + "/"}) {
    EXPECT_EQ(open_whole(path)->progress().steps, 20) << path;
  }
  EXPECT_EQ(open_whole(strategy_folder() + "/step-0000010")->progress().steps, 10);
  fs::copy(strategy_folder(), directory() + "/ZERO2", fs::copy_options::recursive);
  EXPECT_EQ(faults_of(directory()),
            directory() + ": holds checkpoints of several strategies; one of ZERO1, ZERO2\n");
  EXPECT_EQ(faults_of(directory(), "DDP"),
            directory() + ": holds no checkpoint of DDP; one of ZERO1, ZERO2\n");
  EXPECT_EQ(faults_of(directory(), "ZERO2"), "");
  std::vector<Fault> faults;
  EXPECT_EQ(find_checkpoints(directory(), faults).size(), 4U);
  EXPECT_EQ(find_checkpoints(strategy_folder(), faults).size(), 2U);
  EXPECT_EQ(find_checkpoints(newest, faults), std::vector<std::string>{newest});
  EXPECT_EQ(texts(faults), "");
}

TEST_F(CheckpointTest, APathWithoutCheckpointsIsAFault) {
  const std::string allowed = "; a folder step-<steps>, or one that holds such folders\n";
  EXPECT_EQ(faults_of(folder.path("none")),
            folder.path("none") + ": No such file or directory" + allowed);
  EXPECT_EQ(faults_of(folder.path("")), folder.path("") + ": holds no checkpoint" + allowed);
  EXPECT_EQ(faults_of(folder.write("file", "")),
            folder.path("file") + ": is not a folder" + allowed);
  EXPECT_EQ(faults_of(folder.path("step-0000003")),
            folder.path("step-0000003/manifest.json") +
                ": missing: the folder holds no whole checkpoint\n");
}

TEST_F(CheckpointTest, AnOlderCheckpointIsNamedAndNotTaken) {
  save(10);
  fs::remove(save(20) + "/rank-1.safetensors");
  EXPECT_EQ(faults_of(directory()),
            strategy_folder() + "/step-0000020/rank-1.safetensors: missing\n" + strategy_folder() +
                "/step-0000020: is the newest checkpoint and has faults; the newest without any "
                "is " +
                strategy_folder() + "/step-0000010\n");
}

TEST_F(CheckpointTest, AnotherModelIsRefusedWithAllDifferences) {
  const auto source = open_whole(save(20));
  std::vector<Fault> faults;
  check_model(*source, kModel, faults);
  EXPECT_EQ(texts(faults), "");
  check_model(*source, {{7, 6, 3, 4}, Activation::relu, Loss::cross_entropy}, faults);
  const std::string place = source->folder() + "/manifest.json: model.";
  EXPECT_EQ(texts(faults), place + "widths: [7, 5, 3, 4] is not that of the model; [7, 6, 3, 4]\n" +
                               place + "activation: tanh is not that of the model; relu\n" + place +
                               "loss: mse is not that of the model; cross_entropy\n");
}

// What is wrong with files. Each damages a checkpoint and says what must be found, as a regular
// expression for the faults without the folder's name.
struct Damage {
  const char* name;
  std::function<void(const std::string& checkpoint)> damage;
  std::string faults;
};

TEST_F(CheckpointTest, EveryDamagedFileIsRefused) {
  const auto damaged_file = [](const std::function<void(std::string&)>& change) {
    return [change](const std::string& checkpoint) {
      std::string content = read_file(checkpoint + "/rank-1.safetensors");
      change(content);
      replace_file(checkpoint + "/rank-1.safetensors", content);
    };
  };
  const std::string size =
      "rank-1\\.safetensors: bytes: \\d+ is not what the manifest says; \\d+\n";
  const std::string sum =
      "rank-1\\.safetensors: checksum: fnv1a64:[0-9a-f]{16} is not what the "
      "manifest says; fnv1a64:[0-9a-f]{16}\n";
  const std::vector<Damage> all = {
      {"missing", [](const auto& c) { fs::remove(c + "/rank-1.safetensors"); },
       "rank-1\\.safetensors: missing\n"},
      {"truncated", damaged_file([](auto& s) { s.pop_back(); }), size},
      {"empty", damaged_file([](auto& s) { s.clear(); }), size},
      {"longer", damaged_file([](auto& s) { s += "x"; }), size},
      {"value", damaged_file([](auto& s) { s.back() ^= 1; }), sum},
      {"header length", damaged_file([](auto& s) { s[7] = '\x7f'; }),
       sum + "rank-1\\.safetensors: the header should be \\d+ bytes long, allowed are .*\n"},
      {"header", damaged_file([](auto& s) { s[8] = '!'; }),
       sum + "rank-1\\.safetensors: the header must begin with '\\{'.*\n"},
      {"name", damaged_file([](auto& s) { s[s.find("moment")] = 'M'; }),
       sum + "(rank-1\\.safetensors: tensor .*\n){2}"},
      {"swapped",
       [](const auto& c) {
         fs::copy_file(c + "/rank-0.safetensors", c + "/rank-1.safetensors",
                       fs::copy_options::overwrite_existing);
       },
       "(rank-1\\.safetensors: .*\n)+"},
      {"symbolic link",
       [](const auto& c) {
         fs::rename(c + "/rank-1.safetensors", c + "/other");
         fs::create_symlink("other", c + "/rank-1.safetensors");
       },
       "rank-1\\.safetensors: is a symbolic link; a checkpoint has none\n"},
      {"folder",
       [](const auto& c) {
         fs::remove(c + "/rank-1.safetensors");
         fs::create_directory(c + "/rank-1.safetensors");
       },
       "rank-1\\.safetensors: is not a regular file\n"},
      {"pipe",
       [](const auto& c) {
         fs::remove(c + "/rank-1.safetensors");
         ::mkfifo((c + "/rank-1.safetensors").c_str(), 0600);
       },
       "rank-1\\.safetensors: is not a regular file\n"},
      {"foreign file", [](const auto& c) { replace_file(c + "/rank-3.safetensors", "x"); },
       "rank-3\\.safetensors: is no file of the checkpoint: the manifest does not name it\n"},
      {"two at once",
       [](const auto& c) {
         fs::remove(c + "/rank-0.safetensors");
         fs::resize_file(c + "/rank-1.safetensors", 3);
       },
       "rank-0\\.safetensors: missing\n" + size},
      {"no manifest", [](const auto& c) { fs::remove(c + "/manifest.json"); },
       "manifest\\.json: missing: the folder holds no whole checkpoint\n"},
      {"linked manifest",
       [](const auto& c) {
         fs::rename(c + "/manifest.json", c + "/other");
         fs::create_symlink("other", c + "/manifest.json");
       },
       "manifest\\.json: is a symbolic link; a checkpoint has none\n"},
      {"manifest is a pipe",
       [](const auto& c) {
         fs::remove(c + "/manifest.json");
         ::mkfifo((c + "/manifest.json").c_str(), 0600);
       },
       "manifest\\.json: is not a regular file\n"},
      {"long manifest",
       [](const auto& c) { fs::resize_file(c + "/manifest.json", kLongestManifest + 1); },
       "manifest\\.json: is longer than 67108864 bytes\n"},
  };
  for (const Damage& damage : all) {
    SCOPED_TRACE(damage.name);
    const std::string checkpoint = save(20);
    damage.damage(checkpoint);
    const std::string found = std::regex_replace(
        faults_of(checkpoint),
        std::regex(std::regex_replace(checkpoint, std::regex("\\."), "\\.") + "/"), "");
    EXPECT_TRUE(std::regex_match(found, std::regex(damage.faults))) << found;
    fs::remove_all(checkpoint);
  }
}

TEST_F(CheckpointTest, EveryFieldOfAManifestIsChecked) {
  struct Edit {
    std::string from;
    std::string to;
    std::string fault;  ///< Begins the first one.
  };
  const std::string whole = " is not allowed; a whole number from ";
  const std::vector<Edit> edits = {
      {"{", "[", "is not valid JSON: "},
      {"{", "{\"digest\": 1,", "is not valid JSON: "},  // A key twice.
      {"{", "{\"more\": 1,", "more: unknown field; one of format, "},
      {"{", "{\"modell\": 1,", "modell: unknown field; did you mean \"model\"? (one of "},
      {"}\n", "}\n{}", "is not valid JSON: "},
      {"shardscope checkpoint", "other", "format: this is no manifest of a checkpoint; "},
      {"\"format_version\" : 1", "\"format_version\" : 2", "format_version: 2 is not allowed; 1"},
      {"\"world_size\" : 3", "\"world_size\" : -3", "world_size: -3" + whole + "1 to 65536"},
      {"\"world_size\" : 3", "\"world_size\" : 99999999999999999999", "world_size: 1e+20" + whole},
      {"\"world_size\" : 3", "\"world_size\" : 1e400", "is not valid JSON"},
      {"\"world_size\" : 3", "\"world_size\" : 3.0", "world_size: 3.0" + whole},
      {"\"world_size\" : 3", "\"world_size\" : 4", "files: 3 files; a list of 4, one per rank"},
      {"\"world_size\" : 3", "\"world_size\" : \"3\"", "world_size: \"3\"" + whole},
      {"\"strategy\" : \"ZERO1\"", "\"strategy\" : \"../x\"",
       "strategy: \"../x\" is not allowed; "},
      {"\"precision\" : \"bf16\"", "\"precision\" : \"bf17\"",
       "precision: \"bf17\" is not allowed; one of fp32, bf16, fp16"},
      {"\"tanh\"", "\"tan\"", "model.activation: \"tan\" is not allowed; one of relu, tanh"},
      {"\"learning_rate\"", "\"lr\"", "optimizer.learning_rate: missing"},
      {"\"learning_rate\" : 0.001", "\"learning_rate\" : NaN", "is not valid JSON: "},
      {"\"learning_rate\" : 0.001", "\"learning_rate\" : -1.0",
       "optimizer.learning_rate: -1.0 is not allowed; a finite number from 0"},
      {"\"updates\" : 20", "\"updates\" : 21", "progress.updates: 21" + whole + "0 to 20"},
      {"\"steps\" : 20", "\"steps\" : -1", "progress.steps: -1" + whole + "0 to "},
      {"\"next_batch\" : 20", "\"next_batch\" : 19",
       "progress.next_batch: 19 is not allowed; 20, as progress.steps"},
      {"\"scale\" : 65536.0", "\"scale\" : 0.0", "progress.loss_scale.scale: 0.0 is not allowed; "},
      {"\"scale\" : 65536.0", "\"scale\" : 65537.0", "digest: "},
      {"\"parameters\" : 74", "\"parameters\" : 75",
       "parameters: 75 is not allowed; 74, as of model.widths"},
      {"7,", "9223372036854775807,", "model.widths: "},
      {"7,", "0,", "model.widths: "},
      {"\"rank\" : 1", "\"rank\" : 2", "files[1].rank: 2 is not allowed; 1"},
      {"\"rank-1.safetensors\"", "\"../rank-1.safetensors\"",
       "files[1].name: \"../rank-1.safetensors\" is not allowed; \"rank-1.safetensors\", or null"},
      {"\"rank-1.safetensors\"", "\"/etc/passwd\"",
       "files[1].name: \"/etc/passwd\" is not allowed"},
      {"\"rank-1.safetensors\"", "null", "files[1].name: null is not allowed; "},
      {"layers.0.weight[0:25]", "layers.9.weight[0:25]",
       "files[0].ranges: \"layers.9.weight[0:25]\" is of no tensor of the model; layers.0.weight "
       "to layers.2.bias"},
      {"layers.0.weight[0:25]", "layers.0.weight[0:99]",
       "files[0].ranges: \"layers.0.weight[0:99]\" is not allowed; [begin:end] with 0 <= begin < "
       "end <= 35"},
      {"layers.0.weight[0:25]", "layers.0.weight[-1:25]", "files[0].ranges: "},
      {"layers.0.weight[0:25]", "layers.0.weight[0:99999999999999999999]", "files[0].ranges: "},
      {"layers.0.weight[0:25]", "layers.0.weight", "files[0].ranges: "},
      {"layers.0.weight[0:25]", "[:]", "files[0].ranges: "},
      {"layers.0.weight[0:25]", "layers.0.weight[0:24]", "digest: "},
  };
  for (const Edit& edit : edits) {
    SCOPED_TRACE(edit.to);
    const std::string checkpoint = save(20);
    edit_manifest(checkpoint, edit.from, edit.to);
    const std::string found = faults_of(checkpoint);
    EXPECT_EQ(found.rfind(checkpoint + "/manifest.json: " + edit.fault, 0), 0U) << found;
    fs::remove_all(checkpoint);
  }
}

TEST_F(CheckpointTest, AllFaultsOfAManifestAreToldTogether) {
  const std::string checkpoint = save(20);
  edit_manifest(checkpoint, "\"tanh\"", "\"tan\"");
  edit_manifest(checkpoint, "\"world_size\" : 3", "\"world_size\" : 0");
  edit_manifest(checkpoint, "\"beta1\" : 0.9", "\"beta1\" : 1.5");
  const std::string found = faults_of(checkpoint);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 3) << found;
}

TEST_F(CheckpointTest, GapsAndOverlapsAreNamed) {
  const std::string checkpoint = save(20);
  change_manifest(checkpoint, [](CheckpointManifest& manifest) {
    manifest.files[0].ranges = {{0, 0, 20}};      // layers.0.weight[0:25] before.
    manifest.files[1].ranges.front().begin = 22;  // [25:35] before.
    manifest.files[2].ranges.push_back({0, 30, 33});
  });
  const std::string found = faults_of(checkpoint);
  const std::string place = checkpoint + "/manifest.json: files: layers.0.weight";
  const std::string allowed = "; every element once\n";
  EXPECT_EQ(found.rfind(place + "[20:22] is held by no rank" + allowed + place +
                            "[30:33] is held by rank 1 and again by rank 2" + allowed,
                        0),
            0U)
      << found;
  change_manifest(checkpoint, [](CheckpointManifest& manifest) { manifest.files[2] = {}; });
  EXPECT_NE(faults_of(checkpoint).find("layers.2.bias[0:4] is held by no rank"), std::string::npos);
}

TEST_F(CheckpointTest, ARenamedFolderIsRefused) {
  fs::rename(save(20), strategy_folder() + "/step-0000030");
  EXPECT_EQ(faults_of(directory()),
            strategy_folder() +
                "/step-0000030/manifest.json: progress.steps: 20 is not allowed; 30, as the "
                "folder's name says\n");
  fs::rename(strategy_folder() + "/step-0000030", folder.path("copy"));
  EXPECT_EQ(faults_of(folder.path("copy")), "");
}

TEST_F(CheckpointTest, NoFlippedBitIsOverlooked) {
  const std::string checkpoint = save(20);
  std::mt19937_64 random(6);
  for (const std::string& name : names(checkpoint)) {
    const std::string path = checkpoint + "/" + name;
    const std::string content = read_file(path);
    for (int i = 0; i < 150; ++i) {
      std::string damaged = content;
      const std::size_t at = random() % damaged.size();
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
      replace_file(path, damaged);
      std::vector<Fault> faults;
      const auto source = open_checkpoint(checkpoint, std::nullopt, faults);
      if (source != nullptr) {  // White space between the manifest's values says nothing.
        EXPECT_EQ(manifest_text(source->manifest()), content) << name << " at " << at;
      }
    }
    replace_file(path, content);
  }
  EXPECT_EQ(faults_of(checkpoint), "");
}

TEST_F(CheckpointTest, RandomlyDamagedManifestsNeverCrash) {
  const std::string checkpoint = save(20);
  const std::string path = checkpoint + "/manifest.json";
  const std::string content = read_file(path);
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {"-1",
                                           "1e999",
                                           "null",
                                           "[]",
                                           "{}",
                                           "\"\"",
                                           "true",
                                           "0",
                                           "\"",
                                           "[",
                                           "}",
                                           ",",
                                           "9223372036854775807",
                                           "\\u0000",
                                           "\xff"};
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = content;
    for (std::size_t change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % damaged.size();
      damaged.replace(at, random() % 12, pieces[random() % pieces.size()]);
    }
    std::vector<Fault> faults;
    const auto manifest = parse_manifest(damaged, path, faults);
    EXPECT_EQ(manifest.has_value(), faults.empty());
    if (manifest.has_value()) {
      EXPECT_EQ(manifest_text(*manifest), content);
    }
  }
}

TEST_F(CheckpointTest, AFileThatChangesWhileItIsReadIsAnError) {
  const auto source = open_whole(save(20));
  std::vector<float> values(kModel.parameters());
  const std::string file = source->folder() + "/rank-0.safetensors";
  replace_file(file, read_file(file) + "x");
  EXPECT_THROW(source->read(StateVector::weights, 0, Tensor::of(values.data(), 1)),
               std::runtime_error);
}

TEST_F(CheckpointTest, IsShownInEightyColumns) {
  const std::string text = checkpoint_text(*open_whole(save(20)));
  EXPECT_EQ(text.rfind("Checkpoint: step 20 of ZERO1 on 3 ranks\n", 0), 0U);
  for (const char* words : {"7-5-3-4, tanh, mse: 74 parameters", "adamw, learning rate 0.001",
                            "rank-2.safetensors", "layers.2.bias"}) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  SavedState many(kModel, 9);
  CheckpointWriter writer(folder.path("many"), 1, run_of(kModel, "ZERO2", 200));
  std::string error;
  ASSERT_TRUE(writer.write(many.progress, many.cut(owned_by("ZERO2", kModel, 200)), error));
  const std::string of_many = checkpoint_text(*open_whole(folder.path("many")));
  EXPECT_LT(std::count(of_many.begin(), of_many.end(), '\n'), 100) << of_many;
}

// Saves one step after another and tells each that is whole.
[[noreturn]] void save_until_killed(const std::string& directory, std::int64_t first, int told) {
  SavedState state(kModel, 8);
  CheckpointWriter writer(directory, 2, run_of(kModel, "ZERO3", 4));
  const auto owned = state.cut(owned_by("ZERO3", kModel, 4));
  for (std::int64_t steps = first;; ++steps) {
    state.progress.steps = steps;
    state.progress.updates = steps;
    std::string error;
    if (!writer.write(state.progress, owned, error) ||
        ::write(told, &steps, sizeof steps) != sizeof steps) {
      ::_exit(1);
    }
  }
}

TEST_F(CheckpointTest, AKillAtAnyInstantLeavesTheLastCheckpoint) {
  std::mt19937_64 random(10);
  std::int64_t newest = 0;
  for (int round = 0; round < 20; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Every other round saves its last step again, which exchanges folders.
      save_until_killed(directory(), std::max<std::int64_t>(1, newest + round % 2), pipe[1]);
    }
    ::close(pipe[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    std::int64_t told = newest;
    while (::read(pipe[0], &told, sizeof told) == sizeof told) {
    }
    ::close(pipe[0]);
    if (told == 0) {
      continue;  // Killed before the first was whole.
    }
    const auto source = open_whole(directory());
    ASSERT_NE(source, nullptr);
    EXPECT_GE(source->progress().steps, std::max(told, newest));
    newest = source->progress().steps;
    std::vector<Fault> faults;
    for (const std::string& whole : find_checkpoints(directory(), faults)) {
      EXPECT_NE(CheckpointSource::open(whole, faults), nullptr) << texts(faults);
    }
  }
  EXPECT_GT(newest, 0);
  CheckpointWriter writer(directory(), 1, run_of(kModel, "ZERO3", 4));
  state.progress.steps = newest + 1;
  state.progress.updates = 0;
  std::string error;
  ASSERT_TRUE(writer.write(state.progress, state.cut(owned_by("ZERO3", kModel, 4)), error))
      << error;
  EXPECT_EQ(names(directory() + "/ZERO3"), std::vector<std::string>{step_folder_name(newest + 1)});
}

TEST_F(CheckpointTest, OneRunAtATimeSavesToAFolder) {
  const auto owned = state.cut(owned_by("ZERO1", kModel, 3));
  std::string error;
  auto first = std::make_unique<CheckpointWriter>(directory(), 1, run_of(kModel, "ZERO1", 3));
  CheckpointWriter second(directory(), 1, run_of(kModel, "ZERO1", 3));
  EXPECT_TRUE(first->write(state.progress, owned, error)) << error;
  EXPECT_FALSE(second.write(state.progress, owned, error));  // Though the first is not writing now.
  EXPECT_EQ(error, strategy_folder() + ": cannot be written to: another run is saving there");
  first.reset();
  EXPECT_TRUE(second.write(state.progress, owned, error)) << error;
}

}  // namespace
}  // namespace shardscope::testing
