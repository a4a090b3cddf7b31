#include "sim/report/json_report.h"

#include <gtest/gtest.h>
#include <json/json.h>

#include <limits>
#include <utility>

#include "tests/sim/parse_json.h"
#include "tests/sim/sample_results.h"

namespace shardscope {
namespace {

Json::Value report_of(const std::vector<RunResult>& runs) {
  return parse_json(json_report(sample_scenario(8), runs, sample_context()));
}

std::vector<std::string> sorted_names(const Json::Value& object) { return object.getMemberNames(); }

using Names = std::vector<std::string>;

TEST(JsonReportTest, Structure) {
  const Json::Value root = report_of({sample_run("ZERO1", 8, 8, 2e-3)});
  EXPECT_EQ(sorted_names(root), (Names{"assumptions", "digest", "runs", "scenario", "shardscope"}));
  EXPECT_EQ(root["shardscope"], "1.2.3");
  EXPECT_EQ(root["scenario"], "quickstart");
  EXPECT_EQ(root["digest"], "0123456789abcdef");
  const Json::Value& run = root["runs"][0];
  EXPECT_EQ(sorted_names(run),
            (Names{"limiting_factor", "options", "outcome", "parameters", "ranks", "steps",
                   "strategy", "weights_digest", "world_size"}));
  EXPECT_EQ(run["strategy"], "ZERO1");
  EXPECT_EQ(run["world_size"], 8);
  EXPECT_EQ(run["parameters"], 394'368);
  EXPECT_EQ(run["outcome"], "completed");
  EXPECT_EQ(run["weights_digest"], "00000000000000aa");
  EXPECT_EQ(run["steps"].size(), 3U);
  EXPECT_EQ(run["ranks"].size(), 8U);
}

TEST(JsonReportTest, Steps) {
  const Json::Value step = report_of({sample_run("ZERO1", 8, 8, 2e-3)})["runs"][0]["steps"][2];
  EXPECT_EQ(sorted_names(step),
            (Names{"grad_norm", "loss", "loss_scale", "skipped", "step", "time"}));
  EXPECT_EQ(step["step"], 3);
  EXPECT_EQ(step["loss"].asDouble(), 0.1 / 3);
  const Json::Value& time = step["time"];
  EXPECT_EQ(time["wall_s"].asDouble(), 0.875e-3 + 2e-3);
  EXPECT_EQ(time["forward_s"].asDouble(), 0.25e-3);
  EXPECT_EQ(time["backward_s"].asDouble(), 0.5e-3);
  EXPECT_EQ(time["optimizer_s"].asDouble(), 0.125e-3);
  EXPECT_EQ(time["exposed_communication_s"].asDouble(), 2e-3);
  EXPECT_EQ(time["busy_communication_s"].asDouble(), 2e-3 + 0.25e-3);
  EXPECT_NEAR(time["overlapped_communication_s"].asDouble(), 0.25e-3, 1e-12);
  EXPECT_EQ(time["exposed_backward_s"].asDouble(), 2e-3);
  EXPECT_EQ(time["last_rank"], 0);
}

TEST(JsonReportTest, Ranks) {
  const Json::Value rank = report_of({sample_run("ZERO1", 8, 8, 2e-3)})["runs"][0]["ranks"][7];
  EXPECT_EQ(sorted_names(rank), (Names{"memory", "rank", "steps"}));
  EXPECT_EQ(rank["rank"], 7);
  const Json::Value& memory = rank["memory"];
  const Names states = {"first_moment", "gradients", "master_weights", "parameters",
                        "second_moment"};
  EXPECT_EQ(sorted_names(memory["state_bytes"]), states);
  EXPECT_EQ(sorted_names(memory["predicted_state_bytes"]), states);
  EXPECT_EQ(
      sorted_names(memory["peak_bytes"]),
      (Names{"activations", "communication_buckets", "first_moment", "gathered_parameters",
             "gradients", "inputs", "master_weights", "parameters", "second_moment", "total"}));
  EXPECT_EQ(memory["predicted_peak_bytes"], memory["peak_bytes"]["total"]);
  EXPECT_EQ(memory["state_bytes"]["master_weights"], 197'184);
  EXPECT_EQ(memory["peak_bytes"]["communication_buckets"], 98'560);
  const Json::Value& step = rank["steps"][0];
  EXPECT_EQ(sorted_names(step), (Names{"control_sent_bytes", "predicted_sent_bytes",
                                       "received_bytes", "sent_bytes", "time"}));
  EXPECT_EQ(step["sent_bytes"], 1'380'288);
}

TEST(JsonReportTest, OptionsAreAsInAScenario) {
  RunResult run = sample_run("TORCH_DDP", 8, 1, 2e-3);
  for (const auto& [name, value] : {std::pair("overlap", "true"), std::pair("bucket_size", "1MiB"),
                                    std::pair("buckets_in_flight", "2")}) {
    StrategyOption& option = *run.add_options();
    option.set_name(name);
    option.set_value(value);
  }
  const Json::Value options = report_of({run})["runs"][0]["options"];
  EXPECT_EQ(options["overlap"], true);
  EXPECT_EQ(options["bucket_size"], "1MiB");
  EXPECT_EQ(options["buckets_in_flight"], 2);
}

TEST(JsonReportTest, DoublesAreReadBackAsTheyWere) {
  RunResult run = sample_run("DDP", 1, 1, 0);
  const double awkward = 0.1 + 0.2;
  run.mutable_steps(0)->set_loss(awkward);
  run.mutable_steps(1)->set_loss(std::numeric_limits<double>::denorm_min());
  run.mutable_steps(2)->set_loss(std::numeric_limits<double>::max());
  const Json::Value steps = report_of({run})["runs"][0]["steps"];
  EXPECT_EQ(steps[0]["loss"].asDouble(), awkward);
  EXPECT_EQ(steps[1]["loss"].asDouble(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(steps[2]["loss"].asDouble(), std::numeric_limits<double>::max());
}

TEST(JsonReportTest, LargeIntegersAreNumbers) {
  RunResult run = sample_run("DDP", 1, 1, 0);
  run.mutable_ranks(0)->mutable_steps(0)->set_sent_bytes(18'446'744'073'709'551'615U);
  const std::string text = json_report(sample_scenario(1), {run}, sample_context());
  EXPECT_NE(text.find("\"sent_bytes\":18446744073709551615"), std::string::npos);
}

TEST(JsonReportTest, NanAndInfinityAreNull) {
  RunResult run = sample_run("DDP", 1, 1, 0);
  run.mutable_steps(0)->set_loss(std::numeric_limits<double>::quiet_NaN());
  run.mutable_steps(1)->set_loss(std::numeric_limits<double>::infinity());
  run.mutable_steps(1)->set_grad_norm(-std::numeric_limits<double>::infinity());
  const Json::Value steps = report_of({run})["runs"][0]["steps"];
  EXPECT_TRUE(steps[0].isMember("loss") && steps[0]["loss"].isNull());
  EXPECT_TRUE(steps[1].isMember("loss") && steps[1]["loss"].isNull());
  EXPECT_TRUE(steps[1].isMember("grad_norm") && steps[1]["grad_norm"].isNull());
}

TEST(JsonReportTest, AShapeOnlyRunHasNoLossesAndNoDigest) {
  RunResult run = sample_run("DDP", 1, 1, 0);
  run.clear_weights_digest();
  for (StepResult& step : *run.mutable_steps()) {
    step.clear_loss();
    step.clear_grad_norm();
  }
  const Json::Value result = report_of({run})["runs"][0];
  EXPECT_FALSE(result.isMember("weights_digest"));
  EXPECT_EQ(sorted_names(result["steps"][0]), (Names{"loss_scale", "skipped", "step", "time"}));
}

TEST(JsonReportTest, OutOfMemory) {
  const Json::Value run = report_of({out_of_memory_run("DDP", 8)})["runs"][0];
  EXPECT_EQ(run["outcome"], "out_of_memory");
  EXPECT_FALSE(run.isMember("limiting_factor"));
  EXPECT_EQ(run["steps"].size(), 0U);
  const Json::Value& result = run["out_of_memory"];
  EXPECT_EQ(sorted_names(result),
            (Names{"category", "free_bytes", "layer", "phase", "rank", "step", "wanted_bytes"}));
  EXPECT_EQ(result["rank"], 1);
  EXPECT_EQ(result["step"], 2);
  EXPECT_EQ(result["phase"], "forward");
  EXPECT_EQ(result["layer"], "layers.1");
  EXPECT_EQ(result["category"], "gathered_parameters");
  EXPECT_EQ(result["wanted_bytes"], 525'312);
  EXPECT_EQ(result["free_bytes"], 1'024);
}

TEST(JsonReportTest, AFailedRunSaysWhy) {
  RunResult run;
  run.set_outcome("failed");
  run.set_failure("signal 9");
  EXPECT_EQ(report_of({run})["runs"][0]["failure"], "signal 9");
}

TEST(JsonReportTest, Assumptions) {
  const Json::Value assumptions = report_of({})["assumptions"];
  const Json::Value& network = assumptions["network"];
  EXPECT_EQ(network["fabric"], "STAR");
  EXPECT_EQ(network["link_bandwidth_bytes_per_s"].asDouble(), 1.25e9);
  EXPECT_EQ(network["link_latency_s"].asDouble(), 5e-6);
  EXPECT_EQ(network["nodes"], 8);
  EXPECT_EQ(network["devices_per_node"], 1);
  EXPECT_EQ(assumptions["simgrid"]["network/model"], "CM02");
  EXPECT_EQ(assumptions["device"]["preset"], "classroom");
  EXPECT_EQ(assumptions["algorithm"], "RING");
  EXPECT_EQ(assumptions["arithmetic"], "REAL");
}

TEST(JsonReportTest, LimitingFactor) {
  const Json::Value factor =
      report_of({sample_run("DDP", 8, 1, 2.125e-3)})["runs"][0]["limiting_factor"];
  EXPECT_EQ(factor["name"], "bandwidth");
  EXPECT_EQ(sorted_names(factor["shares"]),
            (Names{"bandwidth", "compute", "latency", "memory", "overhead", "storage"}));
  EXPECT_DOUBLE_EQ(factor["shares"]["compute"].asDouble(), 0.6 / 9);
}

TEST(JsonReportTest, AnyNameIsValidJson) {
  Scenario scenario = sample_scenario(1);
  scenario.name = "quote \" slash \\ newline \n bad \xff euro \u20ac";
  const std::string text = json_report(scenario, {}, sample_context());
  for (const char c : text) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  }
  EXPECT_EQ(parse_json(text)["scenario"].asString().substr(0, 25), scenario.name.substr(0, 25));
}

}  // namespace
}  // namespace shardscope
