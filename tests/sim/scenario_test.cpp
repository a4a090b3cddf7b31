// Reading scenarios: what a good one means, and what is said about bad ones.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/catalogue.h"
#include "sim/scenario/data_dir.h"
#include "sim/scenario/reader.h"
#include "sim/text/nearest_name.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = SHARDSCOPE_SOURCE_DIR;
const fs::path kPlatforms = kSource / "platforms";
const fs::path kQuickstart = kSource / "scenarios/quickstart.textproto";

const std::string kGood = R"(name: "good"
model { layers: [4, 8, 2] }
training {
  steps: 2
  global_batch: 8
  precision: BF16
}
cluster {
  world_size: 4
  device { preset: "classroom" }
  link { bandwidth: "10Gbps" latency: "5us" }
}
)";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("not in the text: " + from);
  return text.replace(at, from.size(), to);
}

class ScenarioTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  static std::vector<Override> sets(const std::vector<std::string>& assignments) {
    std::vector<Override> overrides;
    for (const std::string& text : assignments) overrides.push_back({"--set " + text, text});
    return overrides;
  }

  // The scenario, which must be good.
  Scenario read(const std::string& text, const std::vector<std::string>& assignments = {}) {
    const fs::path path = write("x.textproto", text);
    std::vector<Fault> faults;
    auto scenario = read_scenario(path.string(), sets(assignments), kPlatforms, faults);
    EXPECT_TRUE(scenario.has_value()) << join(faults);
    return scenario.value_or(Scenario{});
  }

  // The faults, one a line, without the folder's name.
  std::string faults_of(const std::string& text, const std::vector<std::string>& assignments = {}) {
    return faults_of_file(write("x.textproto", text), assignments);
  }

  std::string faults_of_file(const fs::path& path,
                             const std::vector<std::string>& assignments = {}) {
    std::vector<Fault> faults;
    const auto scenario = read_scenario(path.string(), sets(assignments), kPlatforms, faults);
    EXPECT_EQ(scenario.has_value(), faults.empty());
    return join(faults);
  }

  std::string join(const std::vector<Fault>& faults) const {
    std::string text;
    for (const Fault& fault : faults) {
      std::string line = format_fault(fault);
      for (std::size_t at; (at = line.find(folder_.string() + "/")) != std::string::npos;) {
        line.erase(at, folder_.string().size() + 1);
      }
      text += line + "\n";
    }
    return text;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = fs::path(temporary_.path("x")).parent_path();
};

// ---- Good scenarios ----

TEST_F(ScenarioTest, QuickstartMeansWhatItSays) {
  std::vector<Fault> faults;
  const auto scenario = read_scenario(kQuickstart.string(), {}, kPlatforms, faults);
  ASSERT_TRUE(scenario.has_value()) << join(faults);
  EXPECT_EQ(scenario->name, "quickstart");
  EXPECT_EQ(scenario->model.widths, (std::vector<std::size_t>{128, 512, 512, 128}));
  EXPECT_EQ(scenario->model.activation, Activation::relu);
  EXPECT_EQ(scenario->model.loss, Loss::mse);
  EXPECT_EQ(scenario->seed, 1U);
  EXPECT_EQ(scenario->training.steps, 20U);
  EXPECT_EQ(scenario->training.global_batch, 64U);
  EXPECT_EQ(scenario->training.precision, DType::bf16);
  EXPECT_EQ(scenario->training.reduce_precision, DType::bf16);
  EXPECT_EQ(scenario->training.loss_scale, 1);
  EXPECT_EQ(scenario->training.storage, Storage::real);
  EXPECT_EQ(scenario->training.optimizer.variant, AdamOptions::Variant::adam);
  EXPECT_EQ(scenario->training.optimizer.learning_rate, 1e-3);
  EXPECT_EQ(scenario->training.optimizer.epsilon, 1e-8);
  EXPECT_EQ(scenario->world_size, 8);
  EXPECT_EQ(scenario->device.preset, "classroom");
  EXPECT_EQ(scenario->device.memory_bytes, 64U << 20);
  EXPECT_EQ(scenario->device.peak_flops_per_s, 25e9);
  EXPECT_EQ(scenario->cluster.spec.fabric->cable.bandwidth_bytes_per_s, 1.25e9);
  EXPECT_EQ(scenario->cluster.spec.fabric->cable.latency_s, 5e-6);
  ASSERT_EQ(scenario->strategies.size(), 5U);
  EXPECT_EQ(scenario->strategies[3].name, "ZERO2");
  EXPECT_EQ(scenario->digest.size(), 16U);
}

TEST_F(ScenarioTest, EveryShippedScenarioReads) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    EXPECT_EQ(faults_of_file(entry.path()), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 7);
}

TEST_F(ScenarioTest, SevenBillionParametersNeed84GBOfOptimizerState) {
  std::vector<Fault> faults;
  const fs::path path = kSource / "scenarios/seven_billion.textproto";
  const auto scenario = read_scenario(path.string(), {}, kPlatforms, faults);
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(scenario->training.storage, Storage::shape_only);
  EXPECT_NEAR(12.0 * static_cast<double>(scenario->model.parameters()), 84e9, 1e6);
}

TEST_F(ScenarioTest, TheSchemaListsTheStrategiesThereAre) {
  const auto* strategies = schema::Scenario::Strategy_descriptor();
  ASSERT_EQ(static_cast<std::size_t>(strategies->value_count()), all_strategies().size());
  for (int i = 0; i < strategies->value_count(); ++i) {
    EXPECT_EQ(strategies->value(i)->name(), all_strategies()[static_cast<std::size_t>(i)].name);
  }
}

TEST_F(ScenarioTest, DefaultsAreTheOnesTheOptionsDeclare) {
  const Scenario scenario = read(R"(model { layers: [4, 2] }
cluster {
  world_size: 1
  device { memory: "1GiB" peak_flops: "1Tf" memory_bandwidth: "10GBps" }
  link { bandwidth: "1Gbps" latency: "0us" }
}
)");
  const TrainingOptions expected;
  EXPECT_EQ(scenario.training.steps, expected.steps);
  EXPECT_EQ(scenario.training.global_batch, expected.global_batch);
  EXPECT_EQ(scenario.training.precision, expected.precision);
  EXPECT_EQ(scenario.training.reduce_precision, expected.reduce_precision);
  EXPECT_EQ(scenario.training.loss_scale, expected.loss_scale);
  EXPECT_EQ(scenario.training.optimizer.learning_rate, expected.optimizer.learning_rate);
  EXPECT_EQ(scenario.training.optimizer.beta1, expected.optimizer.beta1);
  EXPECT_EQ(scenario.training.optimizer.beta2, expected.optimizer.beta2);
  EXPECT_EQ(scenario.training.optimizer.epsilon, expected.optimizer.epsilon);
  EXPECT_EQ(scenario.training.optimizer.weight_decay, expected.optimizer.weight_decay);
  EXPECT_EQ(scenario.device.compute_efficiency, 1);
  EXPECT_EQ(scenario.device.memory_efficiency, 1);
  EXPECT_EQ(scenario.device.launch_overhead_s, 0);
  EXPECT_EQ(scenario.cluster.spec.fabric->cable.latency_s, 0);
  EXPECT_EQ(scenario.strategies.size(), paper_strategies().size());
}

TEST_F(ScenarioTest, EachFigureOfAPresetCanBeReplaced) {
  const Scenario scenario = read(replaced(kGood, "preset: \"classroom\"",
                                          R"(preset: "v100-32g" memory: "1GB" peak_flops: "2Tf"
      memory_bandwidth: "3GBps" compute_efficiency: 0.5 memory_efficiency: 0.25
      launch_overhead: "1ns")"));
  EXPECT_EQ(scenario.device.memory_bytes, 1000000000U);
  EXPECT_EQ(scenario.device.peak_flops_per_s, 2e12);
  EXPECT_EQ(scenario.device.memory_bandwidth_bytes_per_s, 3e9);
  EXPECT_EQ(scenario.device.compute_efficiency, 0.5);
  EXPECT_EQ(scenario.device.memory_efficiency, 0.25);
  EXPECT_EQ(scenario.device.launch_overhead_s, 1e-9);
}

TEST_F(ScenarioTest, PeakFlopsOfAPresetArePerPrecision) {
  const std::string v100 = replaced(kGood, "classroom", "v100-32g");
  EXPECT_EQ(read(v100).device.peak_flops_per_s, 15.7e12);
  EXPECT_EQ(read(v100, {"training.precision=FP16"}).device.peak_flops_per_s, 125e12);
  EXPECT_EQ(read(v100, {"training.precision=FP32"}).device.peak_flops_per_s, 15.7e12);
}

// ---- Overrides ----

TEST_F(ScenarioTest, OverridesReplaceFields) {
  const Scenario scenario =
      read(kGood, {"model.layers=[8,8]", "training.precision=FP32", "cluster.link.bandwidth=1Gbps",
                   "strategies=DDP,ZERO1", "name=a \"b\" \\ {c}", "training.loss_scale=2",
                   "cluster.device={preset: \"a100-40g\" memory: \"1MiB\"}"});
  EXPECT_EQ(scenario.model.widths, (std::vector<std::size_t>{8, 8}));
  EXPECT_EQ(scenario.training.precision, DType::fp32);
  EXPECT_EQ(scenario.training.reduce_precision, DType::fp32);
  EXPECT_EQ(scenario.cluster.spec.fabric->cable.bandwidth_bytes_per_s, 1.25e8);
  EXPECT_EQ(scenario.strategies.size(), 2U);
  EXPECT_EQ(scenario.name, "a \"b\" \\ {c}");
  EXPECT_EQ(scenario.training.loss_scale, 2);
  EXPECT_EQ(scenario.device.preset, "a100-40g");
  EXPECT_EQ(scenario.device.memory_bytes, 1U << 20);
}

TEST_F(ScenarioTest, TheLastOverrideOfAFieldWins) {
  EXPECT_EQ(
      read(kGood, {"training.steps=oops", "training.steps=3", "training.steps=4"}).training.steps,
      4U);
  const Scenario scenario = read(
      kGood, {"cluster.link={bandwidth: \"1Gbps\" latency: \"1us\"}", "cluster.link.latency=2us"});
  EXPECT_EQ(scenario.cluster.spec.fabric->cable.bandwidth_bytes_per_s, 1.25e8);
  EXPECT_EQ(scenario.cluster.spec.fabric->cable.latency_s, 2e-6);
}

TEST_F(ScenarioTest, AnOverrideMendsAFaultOfTheFile) {
  const std::string bad = replaced(kGood, "precision: BF16", "precision: 7");
  EXPECT_EQ(faults_of(bad, {"training.precision=BF16"}), "");
  EXPECT_EQ(faults_of(replaced(kGood, "latency: \"5us\"", "latency: \"5\""),
                      {"cluster.link.latency=5us"}),
            "");
  EXPECT_EQ(
      faults_of(replaced(kGood, "world_size: 4", "world_size: 3"), {"training.global_batch=9"}),
      "");
}

TEST_F(ScenarioTest, OptionsOfTheFilesStrategiesMayStayWhereOthersAreChosen) {
  const std::string text = kGood + "strategies: [TORCH_DDP]\noptions { bucket_size: \"1MiB\" }\n";
  EXPECT_EQ(faults_of(text, {"strategies=[DDP]"}), "");
  // Not those that an argument gives, nor those that none of the file's has.
  EXPECT_NE(faults_of(text, {"strategies=[DDP]", "options.overlap=true"}), "");
  EXPECT_NE(faults_of(kGood + "strategies: [DDP]\noptions { bucket_size: \"1MiB\" }\n"), "");
}

TEST_F(ScenarioTest, AMinimumAboveTheInitialLossScaleIsRefused) {
  const std::string fp16 = replaced(kGood, "BF16", "FP16");
  EXPECT_EQ(faults_of(fp16, {"training.dynamic_loss_scale={initial: 8 minimum: 8}"}), "");
  EXPECT_NE(faults_of(fp16, {"training.dynamic_loss_scale={initial: 8 minimum: 9}"}), "");
  EXPECT_NE(faults_of(fp16, {"training.dynamic_loss_scale={minimum: 65537}"}), "");
}

TEST_F(ScenarioTest, FaultsOfOverridesNameTheArgument) {
  EXPECT_EQ(faults_of(kGood, {"training.step=5"}),
            "--set training.step=5: training.step: unknown field; did you mean \"steps\"? (one of "
            "steps, global_batch, precision, reduce_precision, loss_scale, arithmetic, optimizer, "
            "micro_batches, fp32_gradient_accumulation, clip_norm, dynamic_loss_scale, "
            "activation_checkpointing, checkpoint, optimizer_offload)\n");
  EXPECT_EQ(faults_of(kGood, {"training.steps"}),
            "--set training.steps: is not FIELD=VALUE; for example training.steps=5\n");
  EXPECT_EQ(faults_of(kGood, {"training.steps="}),
            "--set training.steps=: training.steps: no value; a whole number up to "
            "9223372036854775807\n");
  EXPECT_EQ(faults_of(kGood, {"training.steps=0"}),
            "--set training.steps=0: training.steps: 0 is not allowed; a whole number from 1 to "
            "1000000\n");
  EXPECT_EQ(faults_of(kGood, {"cluster.link.bandwidth=10"}),
            "--set cluster.link.bandwidth=10: cluster.link.bandwidth: \"10\" has no unit; a rate "
            "such as \"10Gbps\" (bits) or \"12.5GBps\" (bytes)\n");
  EXPECT_EQ(faults_of(kGood, {"model.layers=[8, 0]"}),
            "--set model.layers=[8, 0]: model.layers: 0 is not allowed; a whole number from 1 to "
            "2147483647\n");
  EXPECT_EQ(faults_of(kGood, {"model.seed.low=1"}),
            "--set model.seed.low=1: model.seed.low: unknown field\n");
  EXPECT_EQ(faults_of(kGood, {"=5"}).substr(0, 10), "--set =5: ");
  EXPECT_EQ(faults_of(kGood, {"sweep.axis.points=5"}),
            "--set sweep.axis.points=5: sweep.axis: may be given several times; all of them "
            "together\n");
}

TEST_F(ScenarioTest, OverridesCannotReachBeyondTheirField) {
  EXPECT_EQ(faults_of(kGood, {"training.steps=5 global_batch: 4"}),
            "--set training.steps=5 global_batch: 4: training.steps: more than one value; one "
            "value\n");
  EXPECT_NE(faults_of(kGood, {"training.steps=5 } cluster { world_size: 2"}), "");
  EXPECT_NE(faults_of(kGood, {"training.steps=5 } training {"}), "");
  EXPECT_NE(faults_of(kGood, {"training.steps=5 } #"}), "");
  EXPECT_NE(faults_of(kGood, {"model.layers=8] seed: 3 layers: [4"}), "");
}

TEST_F(ScenarioTest, PathsAreRelativeToTheFileOrToTheCurrentDirectory) {
  write("data/batches.safetensors", "x");
  const std::string text = kGood + "data { file: \"data/batches.safetensors\" }\n";
  EXPECT_EQ(read(text).data_file, (folder_ / "data/batches.safetensors").string());
  EXPECT_EQ(faults_of(text, {"data.file=no/such.safetensors"}),
            "--set data.file=no/such.safetensors: data.file: \"no/such.safetensors\" does not "
            "exist; a safetensors file; looked for " +
                (fs::current_path() / "no/such.safetensors").string() + "\n");
  EXPECT_EQ(faults_of(kGood + "data { file: \"data\" }\n"),
            "x.textproto:13:14: data.file: \"data\" is a directory; a safetensors file; looked for "
            "data\n");
  EXPECT_NE(faults_of(kGood, {"data.file=/dev/zero"}).find("\"/dev/zero\" is not a regular file"),
            std::string::npos);
  EXPECT_NE(faults_of(kGood, {"data.file=\"x.textproto\\000y\""}).find("is not text"),
            std::string::npos);
  EXPECT_EQ(faults_of(kGood, {"model.weights_file="}).find("--set model.weights_file=: "), 0U);
}

// ---- Digests ----

TEST_F(ScenarioTest, EqualContentHasEqualDigests) {
  const std::string digest = read(kGood).digest;
  EXPECT_EQ(read(R"(# Another order, other units, defaults spelt out.
cluster <
  link { latency: "5000ns"; bandwidth: '1.25' "GBps" }
  device { memory: "64MiB" peak_flops: "0.025Tf" memory_bandwidth: "160Gbps"
           compute_efficiency: 1.0 memory_efficiency: 1 launch_overhead: "0.005ms" }
  world_size: 0x4
>
model { layers: 4 layers: [8] layers: 2, activation: RELU loss: MSE seed: 1 }
training: { precision: BF16 reduce_precision: BF16 global_batch: 8 steps: 2 loss_scale: 1e0
  optimizer { name: ADAM learning_rate: 0.001 beta1: 9e-1 } }
strategies: [DDP, NAIVE_ZERO, ZERO1, ZERO2, ZERO3]
name: "go" "od"
)")
                .digest,
            digest);
  EXPECT_EQ(read(replaced(kGood, "steps: 2", "steps: 7"), {"training.steps=2"}).digest, digest);
}

TEST_F(ScenarioTest, EveryFieldCountsInTheDigest) {
  std::vector<std::string> digests = {read(kGood).digest};
  write("one.safetensors", "1");
  write("two.safetensors", "2");
  const auto in_folder = [&](const std::string& name) { return (folder_ / name).string(); };
  for (const std::string& set : {std::string("name=other"),
                                 std::string("model.layers=[4,8,3]"),
                                 std::string("model.layers=[4,8,8,2]"),
                                 std::string("model.activation=TANH"),
                                 std::string("model.loss=CROSS_ENTROPY"),
                                 std::string("model.seed=2"),
                                 "model.weights_file=" + in_folder("one.safetensors"),
                                 "model.weights_file=" + in_folder("two.safetensors"),
                                 "data.file=" + in_folder("one.safetensors"),
                                 std::string("training.steps=3"),
                                 std::string("training.global_batch=12"),
                                 std::string("training.precision=FP16"),
                                 std::string("training.reduce_precision=FP32"),
                                 std::string("training.loss_scale=2"),
                                 std::string("training.arithmetic=NONE"),
                                 std::string("training.optimizer.name=ADAMW"),
                                 std::string("training.optimizer.learning_rate=2e-3"),
                                 std::string("training.optimizer.beta1=0.8"),
                                 std::string("training.optimizer.beta2=0.9"),
                                 std::string("training.optimizer.epsilon=1e-7"),
                                 std::string("training.optimizer.weight_decay=0.1"),
                                 std::string("cluster.world_size=2"),
                                 std::string("cluster.device.preset=a100-40g"),
                                 std::string("cluster.device.memory=1GiB"),
                                 std::string("cluster.device.peak_flops=1Tf"),
                                 std::string("cluster.device.memory_bandwidth=1GBps"),
                                 std::string("cluster.device.compute_efficiency=0.5"),
                                 std::string("cluster.device.memory_efficiency=0.5"),
                                 std::string("cluster.device.launch_overhead=1us"),
                                 std::string("cluster.link.bandwidth=1Gbps"),
                                 std::string("cluster.link.latency=1us"),
                                 std::string("strategies=[DDP]"),
                                 std::string("strategies=[ZERO1,DDP]")}) {
    digests.push_back(read(kGood, {set}).digest);
    const auto last = digests.end() - 1;
    EXPECT_EQ(std::find(digests.begin(), last, *last), last) << set;
  }
}

TEST_F(ScenarioTest, DigestsDoNotDependOnWhereFilesLie) {
  const std::string text = kGood + "data { file: \"batches.safetensors\" }\n";
  std::vector<Fault> faults;
  std::vector<std::string> digests;
  for (const std::string& place : {std::string("a/"), std::string("b/c/")}) {
    write(place + "batches.safetensors", "same bytes");
    const fs::path path = write(place + "x.textproto", text);
    digests.push_back(read_scenario(path.string(), {}, kPlatforms, faults)->digest);
  }
  EXPECT_EQ(digests[0], digests[1]);
}

// ---- Faults ----

TEST_F(ScenarioTest, AllFaultsOfAFileAreReportedTogetherInOrder) {
  EXPECT_EQ(faults_of(R"(name: "bad"
model {
  layers: [128, 0, -3]
  activation: RELUU
  los: MSE
}
training {
  steps: 1e3
  precision: 7
  loss_scale: 1e999
  optimizer { learning_rate: nan beta1: 1 weight_decay: -1 }
}
cluster {
  world_size: 99999999999999999999
  device { preset: "a100-80" }
  link {
    bandwith: "10Gbps"
    latency: "5"
  }
}
strategies: [DDP, ZERO9, ddp]
extra { deep { er: [1, { a: 2 }] } }
)"),
            R"(x.textproto:3:17: model.layers: 0 is not allowed; a whole number from 1 to 2147483647
x.textproto:3:20: model.layers: -3 is not allowed; a whole number from 1 to 2147483647
x.textproto:4:15: model.activation: RELUU is not allowed; did you mean "RELU"? (one of RELU, TANH)
x.textproto:5:3: model.los: unknown field; did you mean "loss"? (one of layers, activation, loss, seed, weights_file, transformer, hf_config, sequence_length, fused_attention)
x.textproto:8:10: training.steps: 1e3 is not allowed; a whole number up to 9223372036854775807
x.textproto:9:14: training.precision: 7 is not allowed; one of FP32, BF16, FP16
x.textproto:10:15: training.loss_scale: 1e999 is not allowed; a number from 1e-37 up to 1e+37
x.textproto:11:30: training.optimizer.learning_rate: nan is not allowed; a number above 0 up to 1e+38
x.textproto:11:41: training.optimizer.beta1: 1 is not allowed; a number from 0 to below 1
x.textproto:11:57: training.optimizer.weight_decay: -1 is not allowed; a number from 0 up to 1e+38
x.textproto:14:15: cluster.world_size: 99999999999999999999 is not allowed; a whole number up to 9223372036854775807
x.textproto:15:20: cluster.device.preset: "a100-80" is not in the catalogue; did you mean "a100-80g"? (one of a100-40g, a100-80g, a10g-24g, b200-180g, classroom, cpu-core, h100-80g, h200-141g, l4-24g, mi250x-64g, mi300x-192g, rtx4090-24g, t4-16g, v100-32g)
x.textproto:17:5: cluster.link.bandwith: unknown field; did you mean "bandwidth"? (one of bandwidth, latency)
x.textproto:18:14: cluster.link.latency: "5" has no unit; a time such as "5us"
x.textproto:21:19: strategies: ZERO9 is not allowed; did you mean "ZERO1"? (one of DDP, NAIVE_ZERO, ZERO1, ZERO2, ZERO3, TORCH_DDP, DEEPSPEED_STAGE0, DEEPSPEED_STAGE1, DEEPSPEED_STAGE2, DEEPSPEED_STAGE3, FSDP_FULL_SHARD, FSDP_SHARD_GRAD_OP, FSDP_NO_SHARD, FSDP_HYBRID_SHARD, ZERO_REDUNDANCY_OPTIMIZER)
x.textproto:21:26: strategies: ddp is not allowed; did you mean "DDP"? (one of DDP, NAIVE_ZERO, ZERO1, ZERO2, ZERO3, TORCH_DDP, DEEPSPEED_STAGE0, DEEPSPEED_STAGE1, DEEPSPEED_STAGE2, DEEPSPEED_STAGE3, FSDP_FULL_SHARD, FSDP_SHARD_GRAD_OP, FSDP_NO_SHARD, FSDP_HYBRID_SHARD, ZERO_REDUNDANCY_OPTIMIZER)
x.textproto:22:1: extra: unknown field; one of name, model, data, training, cluster, strategies, sweep, options
)");
}

struct BadCase {
  const char* from;
  const char* to;
  const char* fault;
};

const BadCase kBadCases[] = {
    {"[4, 8, 2]", "[4]",
     "x.textproto:2:18: model.layers: 4 is a single width; at least two, input "
     "and output"},
    {"[4, 8, 2]", "[]",
     "x.textproto:2:9: model.layers: missing; at least two widths, for example [128, 512, 128]"},
    {"[4, 8, 2]", "[4000000, 4000000]",
     "x.textproto:2:18: model.layers: 4000000 and the other widths give too large a model; at most "
     "1e13 parameters, not 1.6e+13"},
    {"[4, 8, 2]", "[9223372036854775807, 2]",
     "x.textproto:2:18: model.layers: 9223372036854775807 is not allowed; a whole number from 1 to "
     "2147483647"},
    {"layers: [4, 8, 2]", "layers: [4, 8, 2] seed: -1",
     "x.textproto:2:33: model.seed: -1 is not allowed; a whole number from 0 to "
     "9223372036854775807"},
    {"name: \"good\"", "name: \"\"",
     "x.textproto:1:7: name: \"\" is not allowed; 1 to 200 printable characters"},
    {"name: \"good\"", "name: \"a\\nb\"",
     "x.textproto:1:7: name: \"a\\nb\" is not allowed; 1 to 200 printable characters"},
    {"name: \"good\"", "name: good", "x.textproto:1:7: name: good is not allowed; text in quotes"},
    {"steps: 2", "steps: 0",
     "x.textproto:4:10: training.steps: 0 is not allowed; a whole number from 1 to 1000000"},
    {"steps: 2", "steps: 2 steps: 3",
     "x.textproto:4:12: training.steps: given more than once; first on line 4"},
    {"steps: 2", "steps: [2]", "x.textproto:4:3: training.steps: a list is not allowed; one value"},
    {"steps: 2", "steps { }",
     "x.textproto:4:3: training.steps: a block is not allowed; a whole number up to "
     "9223372036854775807"},
    {"steps: 2", "steps: \"2\"",
     "x.textproto:4:10: training.steps: \"2\" is not allowed; a whole number up to "
     "9223372036854775807"},
    {"steps: 2", "steps: 1000000 } model { layers: [9] } training { arithmetic: NONE",
     "x.textproto:4:20: model: given more than once; first on line 2\n"
     "x.textproto:4:42: training: given more than once; first on line 3"},
    {"global_batch: 8", "global_batch: 10",
     "x.textproto:5:17: training.global_batch: 10 is not allowed; a multiple of "
     "cluster.world_size (4): 8 or 12"},
    {"global_batch: 8", "global_batch: 3",
     "x.textproto:5:17: training.global_batch: 3 is not allowed; a multiple of cluster.world_size "
     "(4): 4"},
    {"precision: BF16", "precision: BF61",
     "x.textproto:6:14: training.precision: BF61 is not allowed; did you mean \"BF16\"? (one of "
     "FP32, BF16, FP16)"},
    {"precision: BF16", "precision: 2",
     "x.textproto:6:14: training.precision: 2 is not allowed; one of FP32, BF16, FP16"},
    {"precision: BF16", "loss_scale: inf",
     "x.textproto:6:15: training.loss_scale: inf is not allowed; a number from 1e-37 up to 1e+37"},
    {"precision: BF16", "\tloss_scale: -0",
     "x.textproto:6:16: training.loss_scale: -0 is not allowed; a number from 1e-37 up to 1e+37"},
    {"precision: BF16", "loss_scale: 1e-999",
     "x.textproto:6:15: training.loss_scale: 1e-999 is not allowed; a number from 1e-37 up to "
     "1e+37"},
    {"precision: BF16", "optimizer: ADAM",
     "x.textproto:6:14: training.optimizer: ADAM is not allowed; a block { } of name, "
     "learning_rate, beta1, beta2, epsilon, weight_decay"},
    {"world_size: 4", "world_size: 0",
     "x.textproto:9:15: cluster.world_size: 0 is not allowed; a whole number from 1 to 16384"},
    {"world_size: 4", "",
     "x.textproto:8:1: cluster.world_size: missing; a number of ranks, for example 8"},
    {"{ preset: \"classroom\" }", "{ memory: \"1GiB\" }",
     "x.textproto:10:3: cluster.device.peak_flops: missing; a speed such as \"312Tf\", or a device "
     "preset\nx.textproto:10:3: cluster.device.memory_bandwidth: missing; a rate such as "
     "\"10Gbps\" (bits) or \"12.5GBps\" (bytes), or a device preset"},
    {"\"classroom\"", "\"../devices/classroom\"",
     "x.textproto:10:20: cluster.device.preset: \"../devices/classroom\" is not in the catalogue; "
     "one of a100-40g, a100-80g, a10g-24g, b200-180g, classroom, cpu-core, h100-80g, h200-141g, "
     "l4-24g, mi250x-64g, mi300x-192g, rtx4090-24g, t4-16g, v100-32g"},
    {"\"classroom\"", "\"classroom\" memory: \"0GB\"",
     "x.textproto:10:40: cluster.device.memory: \"0GB\" is not allowed; a size such as \"64MiB\", "
     "greater than 0"},
    {"\"classroom\"", "\"classroom\" memory: \"9EiB\"",
     "x.textproto:10:40: cluster.device.memory: \"9EiB\" is not allowed; a size from \"1B\" to "
     "below \"8EiB\""},
    {"\"classroom\"", "\"classroom\" compute_efficiency: 1.5",
     "x.textproto:10:52: cluster.device.compute_efficiency: 1.5 is not allowed; a number above 0 "
     "up to 1"},
    {"\"10Gbps\"", "\"0Gbps\"",
     "x.textproto:11:21: cluster.link.bandwidth: \"0Gbps\" is not allowed; a rate such as "
     "\"10Gbps\" (bits) or \"12.5GBps\" (bytes), greater than 0"},
    {"\"10Gbps\"", "10Gbps",
     "x.textproto:11:21: cluster.link.bandwidth: 10Gbps is not allowed; text in quotes"},
    {"\"10Gbps\"", "\"10Gpbs\"",
     "x.textproto:11:21: cluster.link.bandwidth: \"10Gpbs\" has the unknown unit \"Gpbs\"; did you "
     "mean \"Gbps\"? (a rate such as \"10Gbps\" (bits) or \"12.5GBps\" (bytes))"},
    {"latency: \"5us\"", "latency: \"-5us\"",
     "x.textproto:11:39: cluster.link.latency: \"-5us\" is negative; a time such as \"5us\""},
    {"latency: \"5us\"", "",
     "x.textproto:11:3: cluster.link.latency: missing; a time such as \"5us\", or a fabric "
     "preset"},
    {"}\n}\n", "}\n}\nstrategies: [DDP, ZERO1, DDP]\n",
     "x.textproto:13:26: strategies: DDP is listed twice; each strategy once"},
    {"[4, 8, 2] }\ntraining {\n  steps: 2", "[1000000, 1000000] }\ntraining {\n  steps: 1000000",
     "x.textproto:4:10: training.steps: 1000000 steps of this model are too many; parameters x "
     "ranks "
     "x steps of at most 1e18, not 4e+18"},
    {"2] }\ntraining {\n  steps: 2\n  global_batch: 8",
     "2000000] }\ntraining {\n  steps: 2\n  global_batch: 2147483644",
     "x.textproto:5:17: training.global_batch: 2147483644 rows of this model are too many; at most "
     "1e15 activations in all, not 4.29e+15"},
    {"world_size: 4", "world_size 4",
     "x.textproto:9:14: syntax error: expected \":\", found \"4\""},
    {"}\n}\n", "}\n", "x.textproto:12:1: syntax error: expected identifier, got: the end"},
    {"}\n}\n", "}\n}\n}\n", "x.textproto:13:1: syntax error: expected identifier, got: }"},
    {"name: \"good\"", "name: \"good",
     "x.textproto:1:12: syntax error: string literals cannot cross line boundaries"},
};

TEST_F(ScenarioTest, SaysWhatIsWrongAndWhere) {
  for (const BadCase& bad : kBadCases) {
    SCOPED_TRACE(std::string(bad.from) + " replaced by " + bad.to);
    EXPECT_EQ(faults_of(replaced(kGood, bad.from, bad.to)), std::string(bad.fault) + "\n");
  }
}

TEST_F(ScenarioTest, AnErrorOfSyntaxComesWithTheFaultsBeforeIt) {
  EXPECT_EQ(
      faults_of(R"(nam: "bad"
training { steps: -1 precision: 7 }
model { layers [4, 8] }
cluster { world: 2 }
)"),
      R"(x.textproto:1:1: nam: unknown field; did you mean "name"? (one of name, model, data, training, cluster, strategies, sweep, options)
x.textproto:2:19: training.steps: -1 is not allowed; a whole number from 1 to 1000000
x.textproto:2:33: training.precision: 7 is not allowed; one of FP32, BF16, FP16
x.textproto:3:16: syntax error: expected ":", found "["
)");
}

TEST_F(ScenarioTest, FilesThatAreNoScenario) {
  EXPECT_EQ(faults_of_file(folder_), folder_.string() + ": is a directory; a text file\n");
  EXPECT_EQ(faults_of_file(folder_ / "none.textproto"),
            "none.textproto: cannot be opened: No such file or directory\n");
  EXPECT_EQ(faults_of(""), "x.textproto: is empty; a scenario; shardscope init FILE writes one\n");
  EXPECT_EQ(faults_of(" \n\t\n"),
            "x.textproto: is empty; a scenario; shardscope init FILE writes one\n");
  EXPECT_EQ(faults_of(std::string("name: \"a\0\"", 10)),
            "x.textproto: is not a text file: byte 0x00 at offset 8\n");
  EXPECT_EQ(faults_of("\x7f"
                      "ELF"),
            "x.textproto: is not a text file: byte 0x7f at offset 0\n");
  EXPECT_EQ(faults_of("# caf\xe9\n"), "x.textproto: is not a text file: byte 0xe9 at offset 5\n");
  EXPECT_EQ(faults_of(std::string(2 << 20, ' ')),
            "x.textproto: is too large; at most 1 MiB of text\n");
  EXPECT_EQ(faults_of_file("/dev/zero"), "/dev/zero: is neither a file nor a pipe; a text file\n");
}

TEST_F(ScenarioTest, AFileThatCannotBeRead) {
  const fs::path path = write("x.textproto", kGood);
  fs::permissions(path, fs::perms::none);
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  EXPECT_EQ(faults_of_file(path), "x.textproto: cannot be opened: Permission denied\n");
}

TEST_F(ScenarioTest, DeepNestingIsRefusedWhereverItStands) {
  std::string braces;
  for (int i = 0; i < 100000; ++i) braces += "a  { ";
  EXPECT_EQ(faults_of(braces), "x.textproto:1:254: nested too deeply; at most 50 levels\n");
  EXPECT_EQ(faults_of(braces + std::string(100000, '}')),
            "x.textproto:1:254: nested too deeply; at most 50 levels\n");
  EXPECT_EQ(faults_of("[a.b] " + std::string(100000, '{')),
            "x.textproto:1:57: nested too deeply; at most 50 levels\n");
  EXPECT_EQ(faults_of("a: " + std::string(100000, '[')),
            "x.textproto:1:54: nested too deeply; at most 50 levels\n");
  EXPECT_EQ(faults_of(kGood, {"cluster=" + std::string(100000, '{')}).find("nested too deeply") ==
                std::string::npos,
            false);
}

TEST_F(ScenarioTest, AWideHostileFileIsAnsweredInTime) {
  std::string fields = "model { layers: [4, 8] } ";
  while (fields.size() < 300000) fields += "unknwon: 1 layers: 3 ";
  EXPECT_NE(faults_of(fields), "");
  EXPECT_NE(faults_of(std::string(500000, 'a') + " { " + fields.substr(0, 200000) + "}"), "");
}

TEST_F(ScenarioTest, NearestNames) {
  const std::vector<std::string> names = {"ZERO1", "ZERO2", "DDP", "learning_rate"};
  EXPECT_EQ(nearest_name("ZERO3", names), "ZERO1");
  EXPECT_EQ(nearest_name("ddp", names), "DDP");
  EXPECT_EQ(nearest_name("DPD", names), "DDP");
  EXPECT_EQ(nearest_name("learnign_rat", names), "learning_rate");
  EXPECT_EQ(nearest_name("layers.0.wieght", std::vector<std::string>{"layers.0.weight"}),
            "layers.0.weight");
  EXPECT_EQ(nearest_name("momentum", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

// Bytes changed, removed, doubled and moved at random: the answer is a scenario or faults, never a
// crash, and faults stay inside the file.
TEST_F(ScenarioTest, RandomMutationsNeverCrash) {
  const char* given = std::getenv("SHARDSCOPE_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 20240607;
  SCOPED_TRACE("SHARDSCOPE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  const std::string original = contents(kQuickstart);
  const std::string alphabet = "{}[]<>:;,#\"'\\-+.0123456789eEinfaNUL_ \n\t\x80\xff";
  int good = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = original;
    for (std::size_t edits = 1 + below(4); edits-- > 0;) {
      const std::size_t at = below(text.size());
      const std::size_t length = 1 + below(12);
      switch (below(4)) {
        case 0:
          text[at] = alphabet[below(alphabet.size())];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        default:
          text.insert(below(text.size()), text.substr(at, length));
      }
    }
    const fs::path path = write("x.textproto", text);
    std::vector<Fault> faults;
    const auto scenario = read_scenario(path.string(), {}, kPlatforms, faults);
    ASSERT_EQ(scenario.has_value(), faults.empty()) << text;
    good += scenario.has_value() ? 1 : 0;
  }
  EXPECT_GT(good, 0);
  EXPECT_LT(good, 2000);
}

TEST_F(ScenarioTest, TheProgramsFilesLieBesideIt) {
  const auto folder = find_data_dir();
  ASSERT_TRUE(folder.has_value());
  EXPECT_TRUE(fs::exists(*folder / "scenario.proto"));
  EXPECT_TRUE(fs::exists(*folder / "starter.textproto"));
  EXPECT_EQ(device_preset_names(*folder / "platforms"), device_preset_names(kPlatforms));
}

}  // namespace
}  // namespace shardscope
