// What the program's runs say about training: PyTorch's figures, closed forms, conservation laws,
// and the same answer every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "core/training/strategy.h"
#include "sim/files/safetensors.h"
#include "sim/files/weights.h"
#include "tests/core/support/comparison.h"
#include "tests/core/support/pytorch.h"
#include "tests/core/support/reference_problems.h"
#include "tests/e2e/program.h"
#include "tests/e2e/report_checks.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

// ---- The reference problems, through files ----

void write_weights(const std::string& path, const ReferenceProblem& problem) {
  const ModelSpec& model = problem.model();
  std::vector<SafetensorsTensor> tensors;
  std::vector<float> values;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    tensors.push_back({tensor_name(l, LayerTensor::weight), DType::fp32, {shape.out, shape.in}});
    tensors.push_back({tensor_name(l, LayerTensor::bias), DType::fp32, {shape.out}});
    std::vector<float> layer(shape.elements());
    problem.read(l, LayerTensor::weight, 0, Tensor::of(layer.data(), shape.weight_elements()));
    problem.read(l, LayerTensor::bias, 0,
                 Tensor::of(layer.data() + shape.weight_elements(), shape.out));
    values.insert(values.end(), layer.begin(), layer.end());
  }
  SafetensorsWriter writer(path, tensors);
  writer.write(values.data(), values.size() * sizeof(float));
  EXPECT_EQ(writer.finish(), std::nullopt);
}

void write_batches(const std::string& path, const ReferenceProblem& problem) {
  constexpr std::size_t kSteps = ReferenceProblem::kSteps;
  constexpr std::size_t kRows = ReferenceProblem::kRows;
  const std::size_t in = problem.model().input_width();
  const std::size_t out = problem.model().output_width();
  const bool labelled = problem.model().loss == Loss::cross_entropy;
  std::vector<float> x(kSteps * kRows * in);
  std::vector<float> y(labelled ? 0 : kSteps * kRows * out);
  std::vector<std::int64_t> labels(labelled ? kSteps * kRows : 0);
  for (std::size_t step = 0; step < kSteps; ++step) {
    std::byte* const first_label =
        reinterpret_cast<std::byte*>(labels.data()) + step * kRows * sizeof(std::int64_t);
    problem.read(step, 0, kRows, Tensor::of(x.data() + step * kRows * in, kRows * in),
                 labelled ? Tensor{first_label, DType::int64, kRows}
                          : Tensor::of(y.data() + step * kRows * out, kRows * out));
  }
  const SafetensorsTensor targets = labelled
                                        ? SafetensorsTensor{"y", DType::int64, {kSteps, kRows}}
                                        : SafetensorsTensor{"y", DType::fp32, {kSteps, kRows, out}};
  SafetensorsWriter writer(path, {{"x", DType::fp32, {kSteps, kRows, in}}, targets});
  writer.write(x.data(), x.size() * sizeof(float));
  writer.write(y.data(), y.size() * sizeof(float));
  writer.write(labels.data(), labels.size() * sizeof(std::int64_t));
  EXPECT_EQ(writer.finish(), std::nullopt);
}

std::string scenario_text(const ReferenceProblem& problem, DType precision) {
  const ModelSpec& model = problem.model();
  std::string widths;
  for (const std::size_t width : model.widths) {
    widths += (widths.empty() ? "" : ", ") + std::to_string(width);
  }
  std::string type(name(precision));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  const char* activation = model.activation == Activation::relu ? "RELU" : "TANH";
  const char* loss = model.loss == Loss::mse ? "MSE" : "CROSS_ENTROPY";
  const char* loss_scale = precision == DType::fp32 ? "1" : "1024";
  return std::string("name: \"") + std::string(problem.name()) + "\"\nmodel { layers: [" + widths +
         "] activation: " + activation + " loss: " + loss +
         " weights_file: \"weights.safetensors\" }\ndata { file: \"batches.safetensors\" }\n"
         "training { steps: 20 global_batch: 48 precision: " +
         type + " loss_scale: " + loss_scale +
         " }\ncluster { world_size: 1 device { preset: \"classroom\" } "
         "link { bandwidth: \"10Gbps\" latency: \"5us\" } }\n";
}

std::vector<double> read_weights(const std::string& path) {
  std::vector<std::string> faults;
  const auto file = SafetensorsFile::open(path, faults);
  EXPECT_NE(file, nullptr) << path;
  std::vector<double> values;
  for (const SafetensorsEntry& entry : file->entries()) {
    EXPECT_EQ(entry.dtype, "F32");
    std::vector<float> tensor(entry.elements);
    EXPECT_EQ(file->read_fp32(entry, 0, entry.elements, tensor.data()), std::nullopt);
    values.insert(values.end(), tensor.begin(), tensor.end());
  }
  return values;
}

std::vector<double> figures(const Json::Value& run, const char* member) {
  std::vector<double> values;
  for (const Json::Value& step : run["steps"]) {
    values.push_back(step[member].asDouble());
  }
  return values;
}

Worst compare(const Json::Value& run, const std::vector<double>& weights, const PytorchRun& pytorch,
              DType precision) {
  std::vector<double> given(weights.begin(), weights.begin() + 8);
  std::vector<double> expected = pytorch.first8;
  for (std::size_t i = 0; i < weights.size(); i += 97) {
    given.push_back(weights[i]);
  }
  expected.insert(expected.end(), pytorch.every97.begin(), pytorch.every97.end());
  return {.loss = largest_relative_error(figures(run, "loss"), pytorch.loss),
          .norm = largest_relative_error(figures(run, "grad_norm"), pytorch.gradient_norm),
          .parameters = parameter_error(precision, given, expected)};
}

class Pytorch : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {};

TEST_P(Pytorch, IsMatchedByEveryStrategyThroughTheCommandLine) {
  const ReferenceProblem& problem = reference_problems()[std::get<std::size_t>(GetParam())];
  const DType precision = std::get<DType>(GetParam());
  const TemporaryFolder folder;
  write_weights(folder.path("weights.safetensors"), problem);
  write_batches(folder.path("batches.safetensors"), problem);
  const std::string scenario = folder.write("x.textproto", scenario_text(problem, precision));
  const auto pytorch = read_pytorch_runs(problem.name());
  Worst worst;
  for (const int world : {1, 2, 4, 8}) {
    SCOPED_TRACE("world " + std::to_string(world));
    const Json::Value report =
        run_json(scenario, {"--set", "cluster.world_size=" + std::to_string(world),
                            "--save-weights", folder.path("out")});
    check_report(report);
    ASSERT_EQ(report["runs"].size(), paper_strategies().size());
    for (const Json::Value& run : report["runs"]) {
      const std::string strategy = run["strategy"].asString();
      const std::vector<double> weights =
          read_weights(folder.path("out/" + strategy + ".safetensors"));
      ASSERT_EQ(weights.size(), problem.model().parameters());
      const Worst errors =
          compare(run, weights, pytorch.at({std::string(name(precision)), world}), precision);
      SCOPED_TRACE(strategy);
      check(errors, precision, "PyTorch");
      worst.take(errors);
      if (problem.name() == "relu_mse" && precision == DType::fp32 && world == 1) {
        const std::vector<float> all = read_pytorch_parameters();
        EXPECT_LE(parameter_error(precision, weights, {all.begin(), all.end()}), 2e-6);
      }
    }
  }
  ::shardscope::testing::report("PyTorch", worst);
}

INSTANTIATE_TEST_SUITE_P(
    , Pytorch,
    ::testing::Combine(::testing::Values(0U, 1U, 2U),
                       ::testing::Values(DType::fp32, DType::bf16, DType::fp16)),
    [](const ::testing::TestParamInfo<Pytorch::ParamType>& info) {
      return std::string(reference_problems()[std::get<std::size_t>(info.param)].name()) + "_" +
             std::string(name(std::get<DType>(info.param)));
    });

// A run that begins with another run's final weights goes on where that ended: every batch is the
// same here, and a loss is that before its step's update.
TEST(SavedWeights, AreWhereTheNextRunBegins) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write("x.textproto", kSmallScenario);
  constexpr std::size_t kSteps = 4;
  std::vector<float> x;
  std::vector<float> y;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 8 * 6; ++i) {
      x.push_back(std::sin(static_cast<float>(i)));
    }
    for (int i = 0; i < 8 * 4; ++i) {
      y.push_back(std::cos(static_cast<float>(i)));
    }
  }
  SafetensorsWriter writer(folder.path("batches"), {{"x", DType::fp32, {kSteps, 8, 6}},
                                                    {"y", DType::fp32, {kSteps, 8, 4}}});
  writer.write(x.data(), x.size() * sizeof(float));
  writer.write(y.data(), y.size() * sizeof(float));
  ASSERT_EQ(writer.finish(), std::nullopt);
  const std::string data = "data.file=" + folder.path("batches");
  const Json::Value longer = run_json(scenario, {"--set", data, "--set", "training.steps=4"});
  run_json(scenario, {"--set", data, "--save-weights", folder.path("out")});
  for (const Strategy& strategy : paper_strategies()) {
    const std::string name(strategy.name);
    const Json::Value next =
        run_json(scenario, {"--set", data, "--strategy", name, "--set",
                            "model.weights_file=" + folder.path("out/" + name + ".safetensors")});
    EXPECT_EQ(next["runs"][0]["steps"][0]["loss"], run_of(longer, name.c_str())["steps"][3]["loss"])
        << name;
  }
}

// ---- The same answer ----

const std::vector<std::string> kMayDiffer = {"digest", "assumptions", "limiting_factor", "time",
                                             "links"};

std::vector<std::string> with(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& more) {
  std::vector<std::string> all = arguments;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Answers, AreTheSameEveryTime) {
  const std::vector<std::string> command = {
      "run",    shipped("quickstart"),
      "--set",  kSanitized ? "training.steps=2" : "training.steps=6",
      "--json", "-"};
  const Outcome first = run_program(command);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(run_program(command).out, first.out) << "again";
  EXPECT_EQ(run_program(with(command, {"--threads", "2"})).out, first.out) << "two threads";
  const Outcome slower = run_program(with(command, {"--set", "cluster.link.bandwidth=1Gbps"}));
  EXPECT_NE(slower.out, first.out);
  EXPECT_EQ(without(parse_json(slower.out), kMayDiffer), without(parse_json(first.out), kMayDiffer))
      << "another bandwidth";

  const Json::Value report = parse_json(first.out);
  const Json::Value& digest = run_of(report, "DDP")["weights_digest"];
  EXPECT_EQ(digest.asString().size(), 16U);
  EXPECT_EQ(run_of(report, "NAIVE_ZERO")["weights_digest"], digest);
  EXPECT_EQ(run_of(report, "ZERO1")["weights_digest"], digest);
}

TEST(Answers, AreTheSameWithAndWithoutArithmetic) {
  for (const std::string& scenario : {shipped("quickstart"), shipped("uneven_shards")}) {
    const std::vector<std::string> set = {"--set", "training.steps=3"};
    const Json::Value real = run_json(scenario, set);
    const Json::Value none = run_json(scenario, with(set, {"--set", "training.arithmetic=NONE"}));
    EXPECT_EQ(none["assumptions"]["arithmetic"], "NONE");
    const std::vector<std::string> numbers = {"digest", "weights_digest", "loss", "grad_norm",
                                              "arithmetic"};
    EXPECT_EQ(without(none, {"digest", "arithmetic"}), without(real, numbers)) << scenario;
  }
}

// ---- Closed forms ----

TEST(RingTimes, AreTheClosedFormsOnQuickstart) {
  double worst_time = 0;
  double worst_ratio = 0;
  for (const int world : {2, 3, 4, 8, 16, 64}) {
    if (kSanitized && world > 8) {
      continue;
    }
    const Json::Value report =
        run_json(shipped("quickstart"), {"--set", "training.global_batch=192", "--set",
                                         "training.steps=2", "--set", "training.arithmetic=NONE",
                                         "--set", "cluster.world_size=" + std::to_string(world),
                                         "--strategy", "DDP,NAIVE_ZERO,ZERO1,ZERO3"});
    check_report(report);
    const double parameters = run_of(report, "DDP")["parameters"].asDouble();
    const double all_reduce_s = 2 * (world - 1) * (2 * 5e-6 + 2 * parameters / (world * 1.25e9));
    for (Json::ArrayIndex step = 0; step < 2; ++step) {
      const auto busy_s = [&](const char* strategy) {
        return run_of(report, strategy)["steps"][step]["time"]["busy_communication_s"].asDouble();
      };
      const auto sent = [&](const char* strategy) {
        return run_of(report, strategy)["ranks"][0]["steps"][step]["sent_bytes"].asDouble();
      };
      worst_time = std::max(worst_time, std::abs(busy_s("DDP") / all_reduce_s - 1));
      worst_ratio =
          std::max(worst_ratio, std::abs(busy_s("NAIVE_ZERO") / busy_s("ZERO1") / 1.5 - 1));
      EXPECT_EQ(sent("ZERO3") / sent("ZERO1"), 1.5) << world;
    }
  }
  EXPECT_LE(worst_time, 1e-9);
  EXPECT_LE(worst_ratio, 1e-9);
  std::printf("furthest from 2(N-1)(L + S/(N B)): %.1e, from 1.5: %.1e\n", worst_time, worst_ratio);
}

TEST(Accounts, BalanceForEveryRankAndStep) {
  double worst = 0;
  for (const char* set :
       {"training.precision=BF16", "training.precision=FP32", "training.reduce_precision=FP32",
        "cluster.link.latency=0us", "cluster.link.bandwidth=100kbps",
        "cluster.device.launch_overhead=0us", "model.layers=[6,1]", "model.layers=[1,1,1,1,1]",
        "model.loss=CROSS_ENTROPY", "training.arithmetic=NONE"}) {
    for (const char* world : {"4", "7", "9"}) {
      const TemporaryFolder folder;
      const std::string scenario = folder.write("x.textproto", kSmallScenario);
      SCOPED_TRACE(std::string(set) + ", world " + world);
      const Json::Value report =
          run_json(scenario, {"--set", set, "--set", std::string("cluster.world_size=") + world,
                              "--set", "training.global_batch=252"});
      check_report(report);
      worst = std::max(worst, worst_sum_of_phases(report));
    }
  }
  EXPECT_LE(worst, 1e-9);
  std::printf("phases add up to the wall within %.1e relative\n", worst);
}

}  // namespace
}  // namespace shardscope::testing
