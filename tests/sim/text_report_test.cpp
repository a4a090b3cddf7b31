#include "sim/report/text_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <utility>

#include "sim/report/format.h"
#include "sim/report/limits.h"
#include "tests/sim/sample_results.h"

namespace shardscope {
namespace {

std::string report_of(const std::vector<RunResult>& runs, const TextReportOptions& options = {}) {
  const int world_size = runs.empty() ? 8 : runs.front().world_size();
  return text_report(sample_scenario(world_size), runs, sample_context(), options);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_fits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
}

TEST(TextReportTest, AnswersFirst) {
  const std::string text = report_of(five_runs(8));
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "quickstart: ZERO2 is fastest with 2.38 ms a step, 39 % less than NAIVE_ZERO\n"
            "(3.88 ms).\n"
            "NAIVE_ZERO, ZERO1, ZERO2 and ZERO3 need least memory with 2.3 MB per rank at\n"
            "peak, 64 % less than DDP (6.44 MB).");
}

TEST(TextReportTest, StepTimesThatDifferByLessThanATenthOfAPercentAreTies) {
  const auto first_sentence = [](double second_exposed_s, double third_exposed_s) {
    const std::string text =
        report_of({sample_run("DDP", 8, 1, 1.125e-3), sample_run("ZERO1", 8, 8, second_exposed_s),
                   sample_run("ZERO2", 8, 8, third_exposed_s)});
    return text.substr(0, text.find("\n"));
  };
  // Steps of 2 ms and of what is longer by 0.05 %, 0.15 % and half.
  EXPECT_EQ(first_sentence(1.126e-3, 2.125e-3),
            "quickstart: DDP is fastest, as fast as ZERO1, with 2 ms a step, 33 % less than");
  EXPECT_EQ(first_sentence(1.128e-3, 1.128e-3), "quickstart: DDP is fastest with 2 ms a step.");
  EXPECT_EQ(first_sentence(1.126e-3, 1.1245e-3),
            "quickstart: DDP is as fast as ZERO1 and ZERO2, with 2 ms a step.");
}

TEST(TextReportTest, ComparesTimes) {
  EXPECT_TRUE(contains(report_of(five_runs(8)),
                       "Time of a step, ms (mean of steps 2 to 3)\n"
                       "              wall  forward  backward  optimizer  exposed  of wall\n"
                       "  DDP         2.88    0.250     0.500      0.125     2.00     70 %\n"
                       "  NAIVE_ZERO  3.88    0.250     0.500      0.125     3.00     77 %\n"));
}

TEST(TextReportTest, SaysWhatIsHidden) {
  EXPECT_TRUE(contains(report_of(five_runs(8)),
                       "Communication of a step, ms\n"
                       "              busy  exposed  hidden  of busy\n"
                       "  DDP         2.25     2.00   0.250     11 %\n"
                       "  NAIVE_ZERO  3.25     3.00   0.250      8 %\n"));
}

TEST(TextReportTest, WithoutOverlapWhatIsBusyIsAColumn) {
  std::vector<RunResult> runs = {sample_run("DDP", 8, 1, 2e-3), sample_run("ZERO1", 8, 8, 2e-3)};
  for (RunResult& run : runs) {
    for (StepResult& step : *run.mutable_steps()) {
      step.mutable_time()->set_busy_communication_s(2e-3);
    }
  }
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text,
                       "  of wall  busy\n  DDP    2.88    0.250     0.500      0.125     2.00"
                       "     70 %  2.00\n"));
  EXPECT_FALSE(contains(text, "hidden  of busy"));
}

TEST(TextReportTest, CheckpointsAreAPartOfAStepWhereThereAreAny) {
  EXPECT_FALSE(contains(report_of(five_runs(8)), "checkpoint"));
  std::vector<RunResult> runs = five_runs(8);
  for (StepResult& step : *runs[0].mutable_steps()) {
    step.mutable_time()->set_checkpoint_s(1e-3);
    step.mutable_time()->set_wall_s(step.time().wall_s() + 1e-3);
  }
  runs[0].mutable_limits()->set_storage_s(runs[0].limits().wall_s());
  const std::string text = report_of(runs);
  EXPECT_TRUE(
      contains(text,
               "              wall  forward  backward  optimizer  checkpoint  exposed  of wall\n"
               "  DDP         3.88    0.250     0.500      0.125        1.00     2.00     52 %\n"
               "  NAIVE_ZERO  3.88    0.250     0.500      0.125           0     3.00     77 %\n"))
      << text;
  EXPECT_TRUE(contains(text, "wall = forward + backward + optimizer + checkpoint + exposed."));
  EXPECT_TRUE(contains(text, "storage")) << text;
}

TEST(TextReportTest, NamesTheCheckpointThatARunWentOnFrom) {
  std::vector<RunResult> runs = {sample_run("DDP", 8, 1, 2e-3), sample_run("ZERO1", 8, 8, 2e-3)};
  runs[0].set_resumed_from("saved/DDP/step-0000004");
  runs[1].set_resumed_from("saved/ZERO1/step-0000004");
  for (RunResult& run : runs) {
    for (StepResult& step : *run.mutable_steps()) {
      step.set_step(step.step() + 4);
    }
  }
  Scenario scenario = sample_scenario(8);
  scenario.training.steps = static_cast<std::size_t>(runs[0].steps().rbegin()->step());
  const std::string text = text_report(scenario, runs, sample_context(), {});
  EXPECT_TRUE(contains(text, "Resumed from saved/DDP/step-0000004: DDP.\n")) << text;
  EXPECT_TRUE(contains(text, "Resumed from saved/ZERO1/step-0000004: ZERO1.\n")) << text;
  EXPECT_TRUE(contains(text, "(mean of steps 6 to 7)")) << text;
}

TEST(TextReportTest, TheFirstStepIsNotInTheMean) {
  std::vector<RunResult> runs = five_runs(8);
  set_time(*runs[0].mutable_steps(0)->mutable_time(), 1.0);
  EXPECT_TRUE(contains(report_of(runs), "  DDP         2.88 "));
}

TEST(TextReportTest, ComparesMemoryWithItsPrediction) {
  const std::string text = report_of(five_runs(8));
  EXPECT_TRUE(
      contains(text,
               "Memory of the fullest rank, MB: states and peak measured|predicted\n"
               "                       DDP   NAIVE_ZERO        ZERO1        ZERO2        ZERO3\n"
               "  parameters   0.789|0.789  0.789|0.789  0.789|0.789  0.789|0.789  0.789|0.789\n"));
  EXPECT_TRUE(contains(text, "Model states equal the prediction to the byte on every rank."));
  EXPECT_TRUE(contains(text, "Bytes sent equal the prediction to the byte on every rank."));
}

TEST(TextReportTest, SaysWhereAMeasurementDiffers) {
  std::vector<RunResult> runs = five_runs(8);
  runs[2].mutable_ranks(5)->mutable_state()->set_bytes(1, 788'752);
  runs[3].mutable_ranks(1)->mutable_steps(2)->set_sent_bytes(1'380'290);
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text,
                       "  Model states DIFFER from the prediction: ZERO1, rank 5, gradients: "
                       "788,752 B\n  measured, 788,736 B predicted."));
  EXPECT_TRUE(contains(text,
                       "  Bytes sent DIFFER from the prediction: ZERO2, rank 1, step 3: "
                       "1,380,290 B\n  measured, 1,380,288 B predicted."));
}

TEST(TextReportTest, SaysWhatLimits) {
  EXPECT_TRUE(contains(report_of(five_runs(8)),
                       "  ZERO2       link bandwidth      8 %        4 %       42 %     11 %"
                       "       2 %\n"));
}

TEST(TextReportTest, ListsEveryStepUnlessQuiet) {
  const std::string text = report_of(five_runs(8));
  EXPECT_TRUE(contains(text,
                       "Loss of every step\n"
                       "  step       DDP  NAIVE_ZERO     ZERO1     ZERO2     ZERO3\n"
                       "     1  0.100000    0.100000  0.100000  0.100000  0.100000\n"
                       "     2  0.050000    0.050000  0.050000  0.050000  0.050000\n"
                       "     3  0.033333    0.033333  0.033333  0.033333  0.033333\n"));
  EXPECT_TRUE(contains(text,
                       "Time of every step, ms\n"
                       "  step    DDP  NAIVE_ZERO  ZERO1  ZERO2  ZERO3\n"
                       "   1-3  2.875       3.875  2.875  2.375  3.375\n"));
  const std::string quiet = report_of(five_runs(8), {.quiet = true});
  EXPECT_FALSE(contains(quiet, "every step"));
  EXPECT_TRUE(contains(quiet, "What this rests on"));
}

TEST(TextReportTest, StepsThatAreAlikeShareARow) {
  std::vector<RunResult> runs = five_runs(8);
  EXPECT_TRUE(contains(report_of(runs), "\n   1-3  2.875       3.875  2.875  2.375  3.375\n"));
  set_time(*runs[1].mutable_steps(0)->mutable_time(), 1e-3);
  EXPECT_TRUE(contains(report_of(runs),
                       "Time of every step, ms\n"
                       "  step    DDP  NAIVE_ZERO  ZERO1  ZERO2  ZERO3\n"
                       "     1  2.875       1.875  2.875  2.375  3.375\n"
                       "   2-3  2.875       3.875  2.875  2.375  3.375\n"
                       "\n"));
  runs[4].mutable_steps()->RemoveLast();
  EXPECT_TRUE(contains(report_of(runs),
                       "     2  2.875       3.875  2.875  2.375  3.375\n"
                       "     3  2.875       3.875  2.875  2.375      -\n"));
}

TEST(TextReportTest, NamesTheStepsOfTheMean) {
  Scenario scenario = sample_scenario(8);
  const auto title = [&](std::uint64_t steps) {
    scenario.training.steps = steps;
    const std::string text = text_report(scenario, five_runs(8), sample_context(), {});
    const std::size_t begin = text.find("Time of a step");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(title(1), "Time of a step, ms (step 1)");
  EXPECT_EQ(title(2), "Time of a step, ms (step 2)");
  EXPECT_EQ(title(3), "Time of a step, ms (mean of steps 2 to 3)");
}

TEST(TextReportTest, OneRunHasOneTableOfSteps) {
  const std::string text = report_of({sample_run("ZERO1", 8, 8, 2e-3)});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "quickstart: ZERO1 takes 2.88 ms a step, 70 % of it waiting for communication,\n"
            "and 2.3 MB per rank at peak.");
  EXPECT_TRUE(
      contains(text,
               "Every step: loss, and times in ms\n"
               "  step      loss  grad norm   wall  forward  backward  optimizer  exposed\n"
               "     1  0.100000     0.5000  2.875   0.2500    0.5000     0.1250    2.000\n"));
}

TEST(TextReportTest, SaysWhoRanOutOfMemory) {
  std::vector<RunResult> runs = five_runs(8);
  runs[0] = out_of_memory_run("DDP", 8);
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text,
                       "DDP ran out of memory: rank 1 in step 2 (forward) wanted 525 kB for "
                       "gathered\nparameters of layers.1; 1.02 kB of 1 GB were free.\n"));
  EXPECT_FALSE(contains(text, "  DDP         "));
  expect_fits(text);
}

TEST(TextReportTest, SaysWhatARunOutOfMemoryWouldHaveHeld) {
  std::vector<RunResult> runs = five_runs(8);
  runs[0] = out_of_memory_run("DDP", 8);
  runs[0].mutable_out_of_memory()->set_step(0);
  runs[0].mutable_out_of_memory()->clear_layer();
  *runs[0].add_ranks() = sample_rank(0, 1, 0, 0);
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text, "rank 1 before the first step (forward) wanted"));
  EXPECT_TRUE(contains(text, "  all states       -| 6.31   2.17| 2.17"));
}

TEST(TextReportTest, NothingCompleted) {
  RunResult failed;
  failed.set_strategy("ZERO1");
  failed.set_world_size(8);
  failed.set_outcome("failed");
  failed.set_failure("killed by signal 9");
  const std::string text = report_of({out_of_memory_run("DDP", 8), failed});
  EXPECT_EQ(text.find("quickstart: no strategy completed.\n"), 0U);
  EXPECT_TRUE(contains(text, "ZERO1 failed: killed by signal 9\n"));
  EXPECT_FALSE(contains(text, "equal the prediction"));
  expect_fits(text);
}

TEST(TextReportTest, FitsEightyColumns) {
  for (const int world_size : {1, 64}) {
    expect_fits(report_of(five_runs(world_size)));
  }
  expect_fits(report_of({sample_run("DDP", 1, 1, 0)}));
  std::vector<RunResult> many = five_runs(8);
  for (const RunResult& run : five_runs(8)) {
    many.push_back(run);
    many.back().set_strategy(run.strategy() + "_WITH_A_LONG_NAME");
  }
  expect_fits(report_of(many));
}

std::vector<RunResult> framework_runs() {
  return {sample_run("TORCH_DDP", 8, 1, 2e-3), sample_run("DEEPSPEED_STAGE3", 8, 8, 2e-3),
          sample_run("FSDP_SHARD_GRAD_OP", 8, 8, 2e-3),
          sample_run("ZERO_REDUNDANCY_OPTIMIZER", 8, 8, 2e-3)};
}

TEST(TextReportTest, NamesOfFrameworksFit) {
  const std::string text = report_of(framework_runs());
  expect_fits(text);
  EXPECT_TRUE(contains(text,
                       "                                  memory       link     link    kernel\n"
                       "                      compute  bandwidth  bandwidth  latency  launches\n"
                       "  TORCH_DDP               7 %        3 %     * 46 %     12 %       2 %\n"));
  EXPECT_TRUE(contains(text,
                       "                                               ZERO_\n"
                       "                   DEEPSPEED_  FSDP_SHARD_  REDUNDANCY_\n"
                       "  step  TORCH_DDP      STAGE3      GRAD_OP    OPTIMIZER\n"));
  EXPECT_TRUE(contains(text, "  ZERO_REDUNDANCY     2.88 "));
}

TEST(TextReportTest, FitsANarrowTerminal) {
  std::istringstream lines(report_of(framework_runs(), {.width = 60}));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 60U) << line;
  }
}

TEST(TextReportTest, MarksSkippedSteps) {
  Scenario scenario = sample_scenario(8);
  scenario.training.dynamic_loss_scale = DynamicLossScale{};
  std::vector<RunResult> runs = {sample_run("DDP", 8, 1, 2e-3), sample_run("ZERO1", 8, 8, 2e-3)};
  for (RunResult& run : runs) {
    for (StepResult& step : *run.mutable_steps()) {
      step.set_loss_scale(65536);
    }
  }
  runs[1].mutable_steps(0)->set_skipped(true);
  runs[1].mutable_steps(1)->set_loss_scale(32768);
  const std::string text = text_report(scenario, runs, sample_context(), {});
  EXPECT_TRUE(contains(text, "ZERO1 skipped 1 step, because gradients overflowed: 1.\n"));
  EXPECT_TRUE(contains(text,
                       "  step        DDP      ZERO1\n"
                       "     1  0.100000   0.100000*\n"
                       "     2  0.050000   0.050000\n"));
  EXPECT_TRUE(contains(text,
                       "Loss scale of every step\n"
                       "  step    DDP  ZERO1\n"
                       "     1  2^16   2^16*\n"
                       "     2  2^16   2^15\n"
                       "     3  2^16   2^16\n"
                       "  * Skipped: gradients overflowed, and nothing was updated.\n"));
  runs.erase(runs.begin());
  EXPECT_TRUE(contains(text_report(scenario, runs, sample_context(), {}),
                       "     1  2^16*  0.100000  0.5000"));
}

TEST(TextReportTest, SaysWhereStepsSendOtherBytes) {
  std::vector<RunResult> runs = five_runs(8);
  for (RankResult& rank : *runs[4].mutable_ranks()) {
    rank.mutable_steps(0)->set_sent_bytes(2'000'000);
    rank.mutable_steps(0)->set_predicted_sent_bytes(2'000'000);
    for (RankStep& step : *rank.mutable_steps()) {
      step.set_control_sent_bytes(8);
    }
  }
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text,
                       "  These are the last step's; other steps differ: ZERO3 2.00 in step 1. Not "
                       "in\n"
                       "  it: all_reduces of norms and overflow flags, 8 B with ZERO3. Bytes sent "
                       "equal\n"
                       "  the prediction"))
      << text.substr(text.find("Wire of"));
}

TEST(TextReportTest, ListsOptionsWithTheDefaultsOfThoseThatWereChanged) {
  std::vector<RunResult> runs = framework_runs();
  for (const auto& [name, value] :
       {std::pair("overlap", "true"), std::pair("bucket_size", "1MiB")}) {
    StrategyOption& option = *runs[0].add_options();
    option.set_name(name);
    option.set_value(value);
  }
  EXPECT_TRUE(contains(report_of(runs),
                       "  options   TORCH_DDP: overlap=true, bucket_size=1MiB (default 25MiB)\n"));
}

TEST(TextReportTest, LongAndHostileNames) {
  Scenario scenario = sample_scenario(8);
  scenario.name = std::string(200, 'x') + "\x1b[31m";
  scenario.model.widths.clear();
  for (std::size_t i = 0; i < 60; ++i) {
    scenario.model.widths.push_back(1000 + i);
  }
  const std::string text = text_report(scenario, five_runs(8), sample_context(), {});
  expect_fits(text);
  EXPECT_FALSE(contains(text, "\x1b"));
}

TEST(TextReportTest, CountsLayersThatRepeat) {
  Scenario scenario = sample_scenario(8);
  const auto layers = [&](const std::vector<std::size_t>& widths) {
    scenario.model.widths = widths;
    const std::string text = text_report(scenario, {}, sample_context(), {});
    const std::size_t begin = text.find("Layers ");
    return text.substr(begin, text.find(", fp32") - begin);
  };
  scenario.training.precision = DType::fp32;
  EXPECT_EQ(layers({128, 512, 512, 128}), "Layers 128-512-512-128");
  EXPECT_EQ(layers({8, 8, 8}), "Layers 8-8-8");
  EXPECT_EQ(layers({8, 8, 8, 8}), "Layers (4 x 8)");
  std::vector<std::size_t> widths(27, 16384);
  widths.push_back(1236);
  EXPECT_EQ(layers(widths), "Layers (27 x 16384)-1236");
}

TEST(TextReportTest, BreaksLinesBetweenLayers) {
  Scenario scenario = sample_scenario(8);
  scenario.model.widths.clear();
  for (std::size_t i = 0; i < 30; ++i) {
    scenario.model.widths.push_back(1000 + i);
  }
  const std::string text = text_report(scenario, five_runs(8), sample_context(), {});
  EXPECT_TRUE(
      contains(text,
               "Layers 1000-1001-1002-1003-1004-1005-1006-1007-1008-1009-1010-1011-1012-1013-\n"
               "1014-1015-1016-1017-1018-1019-1020-1021-1022-1023-1024-1025-1026-1027-1028-1029,\n"
               "394,368 parameters, "));
}

TEST(TextReportTest, AssumptionsKeepFourDigits) {
  Scenario scenario = sample_scenario(8);
  scenario.device = {"a100-40g", 42'949'672'960, 312e12, 1555e9, 0.7, 0.85, 5e-6};
  const std::string text = text_report(scenario, five_runs(8), sample_context(), {});
  EXPECT_TRUE(
      contains(text,
               "  device    a100-40g: 312 Tflop/s x 0.700, memory 42.95 GB at 1.555 TB/s x\n"
               "            0.850, launch 5 us\n"));
}

TEST(TextReportTest, LossesThatDiverge) {
  std::vector<RunResult> runs = five_runs(8);
  runs[0].mutable_steps(0)->set_loss(1.2345678e12);
  runs[0].mutable_steps(1)->set_loss(std::numeric_limits<double>::infinity());
  runs[0].mutable_steps(2)->set_loss(std::numeric_limits<double>::quiet_NaN());
  runs[1].mutable_steps(0)->set_loss(1.2345678e-7);
  const std::string text = report_of(runs);
  EXPECT_TRUE(contains(text, "     1  1234567800000  1.2346e-07  0.100000"));
  EXPECT_TRUE(contains(text, "     2            inf "));
  EXPECT_TRUE(contains(text, "     3            nan "));
  EXPECT_EQ(text.find("The training diverges: the loss is not finite with DDP from step 2 on."),
            0U);
}

TEST(TextReportTest, AShapeOnlyReportHasNoLosses) {
  Scenario scenario = sample_scenario(8);
  scenario.training.storage = Storage::shape_only;
  std::vector<RunResult> runs = five_runs(8);
  for (RunResult& run : runs) {
    run.clear_weights_digest();
  }
  const std::string text = text_report(scenario, runs, sample_context(), {});
  EXPECT_FALSE(contains(text, "Loss"));
  EXPECT_FALSE(contains(text, "weights   digest"));
  EXPECT_TRUE(contains(text, "shapes only"));
}

TEST(TextReportTest, ColoursOnlyIfTold) {
  EXPECT_FALSE(contains(report_of(five_runs(8)), "\x1b"));
  EXPECT_EQ(report_of(five_runs(8), {.colour = true}).find("\x1b[1mquickstart: "), 0U);
}

TEST(TextReportTest, EndsWithWhatItRestsOn) {
  std::vector<RunResult> runs = five_runs(8);
  runs[4].set_weights_digest("00000000000000bb");
  const std::string text = report_of(runs);
  EXPECT_EQ(text.substr(text.find("What this rests on")),
            "What this rests on\n"
            "  network   star, one full-duplex link of 10 Gb/s (1.25 GB/s) and 5 us per rank;\n"
            "            a path is two links, 10 us; max-min fair sharing, no protocol\n"
            "            overhead\n"
            "  device    classroom: 1 Tflop/s x 0.500, memory 1 GB at 100 GB/s x 0.800,\n"
            "            launch 5 us\n"
            "  compute   time of a kernel = max(flops / (peak x efficiency), bytes / (memory\n"
            "            bandwidth x efficiency)) + launch\n"
            "  numbers   bf16 parameters, gradients reduced in bf16, ring collectives,\n"
            "            arithmetic REAL\n"
            "  SimGrid   network/model:CM02, surf/precision:1e-12\n"
            "  weights   digest 00000000000000aa: DDP, NAIVE_ZERO, ZERO1 and ZERO2\n"
            "  weights   digest 00000000000000bb: ZERO3\n"
            "  scenario  digest 0123456789abcdef\n"
            "  program   shardscope 1.2.3\n");
}

TEST(LimitsTest, NothingLimitsARunWithoutTime) {
  const LimitSummary limits = summarize_limits(RunResult());
  EXPECT_EQ(limits.shares.size(), 6U);
  EXPECT_EQ(limits.largest(), nullptr);
}

TEST(LimitsTest, TheLargestLimits) {
  RunResult run;
  run.mutable_limits()->set_wall_s(4);
  run.mutable_limits()->set_wire_latency_s(3);
  run.mutable_limits()->set_flops_s(1);
  const LimitSummary limits = summarize_limits(run);
  ASSERT_NE(limits.largest(), nullptr);
  EXPECT_EQ(limits.largest()->name, "latency");
  EXPECT_EQ(limits.largest()->share, 0.75);
}

}  // namespace
}  // namespace shardscope
