// `shardscope plan`: its rows against runs of the same scenarios, its choice against its rows, what
// it says of configurations, and its faults.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

const std::string kModel = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
  "num_key_value_heads": 8, "vocab_size": 1000, "max_position_embeddings": 128,
  "tie_word_embeddings": false})";

const std::string kCluster = R"(training { precision: BF16 }
cluster {
  device { memory: "80MB" peak_flops: "10Tf" memory_bandwidth: "500GBps" }
  node { devices: 2 nvlink: NVSWITCH nvlink_bandwidth: "50GBps" nics: 1 pcie_bandwidth: "20GBps" }
  link { bandwidth: "10Gbps" latency: "2us" }
}
)";

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    model = folder.write("config.json", kModel);
    cluster = folder.write("cluster.textproto", kCluster);
  }

  Outcome plan(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"plan", "--hf-config", model, "--cluster", cluster});
    return run_program(arguments);
  }

  Json::Value plan_json(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Outcome outcome = plan(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return parse_json(outcome.out);
  }

  TemporaryFolder folder;
  std::string model;
  std::string cluster;
};

TEST_F(PlanTest, RowsAreWhatRunsSay) {
  const Json::Value report = plan_json(
      {"--ranks", "4", "--micro-batch", "1,2", "--strategy", "ZERO1,ZERO3,DEEPSPEED_STAGE3"});
  ASSERT_EQ(report["plans"].size(), 3U * 2 * 2);
  for (const Json::Value& row : report["plans"]) {
    const std::string batch = std::to_string(4 * row["micro_batch"].asInt());
    const std::string scenario = folder.write("run.textproto", kCluster);
    const std::vector<std::string> arguments = {"--strategy",
                                                row["strategy"].asString(),
                                                "--set",
                                                "model.hf_config=" + model,
                                                "--set",
                                                "training.steps=2",
                                                "--set",
                                                "training.global_batch=" + batch,
                                                "--set",
                                                "cluster.world_size=4",
                                                "--set",
                                                "cluster.collective.fidelity=FLOW",
                                                "--set",
                                                std::string("training.activation_checkpointing=") +
                                                    (row["recompute"].asBool() ? "1" : "0")};
    const Json::Value run = run_json(scenario, arguments)["runs"][0];
    SCOPED_TRACE(row.toStyledString());
    EXPECT_EQ(row["fits"].asBool(), run["outcome"] == "completed");
    EXPECT_EQ(row["parameters"], run["parameters"]);
    if (!row["fits"].asBool()) {
      EXPECT_TRUE(row["step_s"].isNull());
      EXPECT_GT(row["lacking_bytes"].asUInt64(), 0U);
      EXPECT_EQ(row["category"], run["out_of_memory"]["category"]);
      continue;
    }
    std::uint64_t peak = 0;
    for (const Json::Value& rank : run["ranks"]) {
      peak = std::max(peak, rank["memory"]["peak_bytes"]["total"].asUInt64());
    }
    const Json::Value& time = run["steps"][1]["time"];
    EXPECT_NEAR(row["step_s"].asDouble(), time["wall_s"].asDouble(),
                1e-9 * row["step_s"].asDouble());
    const double parts = row["forward_s"].asDouble() + row["backward_s"].asDouble() +
                         row["optimizer_s"].asDouble() + row["exposed_communication_s"].asDouble();
    EXPECT_NEAR(parts, row["step_s"].asDouble(), 1e-9 * parts);
    EXPECT_NEAR(row["tokens_per_s"].asDouble() * row["step_s"].asDouble(),
                4 * row["micro_batch"].asInt() * 128, 1e-6);
    EXPECT_GT(row["model_flops_utilization"].asDouble(), 0);
    EXPECT_LT(row["model_flops_utilization"].asDouble(), 1);
    if (peak > 0) {
      EXPECT_EQ(row["peak_bytes"].asUInt64(), peak);
    }
  }
}

// FSDP gathers every unit for forward and again for backward, but its root - token embedding, last
// norm and projection - once; and it scatters all gradients: (N-1)/N 2 bytes (3 P - P_root).
TEST_F(PlanTest, FsdpGathersItsRootOnce) {
  const std::string scenario = folder.write("run.textproto", kCluster);
  const Json::Value run =
      run_json(scenario, {"--strategy", "FSDP_FULL_SHARD", "--set", "model.hf_config=" + model,
                          "--set", "training.steps=1", "--set", "training.global_batch=4", "--set",
                          "cluster.world_size=4"})["runs"][0];
  const std::uint64_t root = 1000 * 256 + 256 + 256 * 1000;
  const std::uint64_t wire = 2 * 3 * (3 * run["parameters"].asUInt64() - root) / 4;
  for (const Json::Value& rank : run["ranks"]) {
    EXPECT_EQ(rank["steps"][0]["sent_bytes"].asUInt64(), wire);
    EXPECT_EQ(rank["steps"][0]["predicted_sent_bytes"].asUInt64(), wire);
  }
}

TEST_F(PlanTest, ARunWithItsOptimizerOnTheHostSaysWhatLiesThere) {
  const std::string scenario = folder.write("run.textproto", kCluster);
  const Outcome outcome =
      run_program({"run", scenario, "--strategy", "ZERO2", "--set", "model.hf_config=" + model,
                   "--set", "training.steps=1", "--set", "training.global_batch=4", "--set",
                   "cluster.world_size=4", "--set", "training.optimizer_offload=CPU"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("On the host beside it, per rank: ZERO2 "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("holds the optimizer"), std::string::npos) << outcome.out;
}

TEST_F(PlanTest, RecommendsTheFastestThatFits) {
  const Json::Value report = plan_json({"--ranks", "2,4"});
  ASSERT_EQ(report["recommendations"].size(), 2U);
  for (const Json::Value& choice : report["recommendations"]) {
    ASSERT_FALSE(choice["plan"].isNull());
    const Json::Value& chosen = report["plans"][choice["plan"].asUInt()];
    EXPECT_TRUE(chosen["recommended"].asBool());
    EXPECT_TRUE(chosen["fits"].asBool());
    EXPECT_LE(chosen["peak_bytes"].asUInt64(), 80'000'000U);
    EXPECT_FALSE(choice["reasons"].empty());
    for (const Json::Value& row : report["plans"]) {
      if (row["ranks"] == chosen["ranks"] && row["fits"].asBool()) {
        EXPECT_LE(row["tokens_per_s"].asDouble(), chosen["tokens_per_s"].asDouble() * 1.011);
      }
    }
  }
}

TEST_F(PlanTest, SaysThatNothingFits) {
  const Outcome outcome = plan({"--ranks", "2", "--set", "cluster.device.memory=1MB"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Nothing fits."), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("* Recommended"), std::string::npos) << outcome.out;
}

TEST_F(PlanTest, TextFitsATerminal) {
  const Outcome outcome = plan({"--ranks", "2,4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("  SimGrid   network/model:CM02"), std::string::npos) << outcome.out;
  std::size_t begin = 0;
  while (begin < outcome.out.size()) {
    const std::size_t end = outcome.out.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << outcome.out.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST_F(PlanTest, ReadsADeepSpeedConfiguration) {
  const std::string config = folder.write("ds.json", R"({
    "train_batch_size": 16, "train_micro_batch_size_per_gpu": 2,
    "bf16": {"enabled": true}, "gradient_clipping": "auto", "steps_per_print": 10,
    "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"},
                          "reduce_bucket_size": "auto"}})");
  const Json::Value report = plan_json({"--deepspeed", config, "--ranks", "4"});
  bool has_stage2 = false;
  for (const Json::Value& row : report["plans"]) {
    EXPECT_EQ(row["accumulation"], 2);
    EXPECT_EQ(row["micro_batch"], 2);
    EXPECT_GT(row["host_bytes"].asUInt64(), 0U) << row;
    has_stage2 = has_stage2 || row["strategy"] == "DEEPSPEED_STAGE2";
    EXPECT_NE(row["strategy"], "DEEPSPEED_STAGE0");
  }
  EXPECT_TRUE(has_stage2);
  bool resolved = false;
  for (const Json::Value& key : report["understood"]["keys"]) {
    resolved = resolved || (key["key"] == "zero_optimization.reduce_bucket_size" &&
                            key["origin"] == "auto" && key["value"] == "65536");
  }
  EXPECT_TRUE(resolved) << report["understood"];
}

// Each stage by its own defaults: stage 1 and 2 do not overlap, stage 3 does and prefetches. What a
// configuration of that stage says is what the other stage's plan says of it.
TEST_F(PlanTest, ReadsAConfigurationAnewForEachStage) {
  const auto plan_of = [&](int stage) {
    const std::string config =
        folder.write("ds" + std::to_string(stage) + ".json",
                     R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
            "zero_optimization": {"stage": )" +
                         std::to_string(stage) + "}}");
    return plan_json(
        {"--deepspeed", config, "--ranks", "4", "--set", "cluster.device.memory=10GB"});
  };
  const auto row_of = [](const Json::Value& report, const std::string& strategy) {
    for (const Json::Value& row : report["plans"]) {
      if (row["strategy"] == strategy && !row["recompute"].asBool()) {
        return row;
      }
    }
    return Json::Value();
  };
  const Json::Value of_2 = plan_of(2);
  const Json::Value of_3 = plan_of(3);
  for (const std::string stage : {"2", "3"}) {
    const std::string strategy = "DEEPSPEED_STAGE" + stage;
    Json::Value here = row_of(of_2, strategy);
    Json::Value there = row_of(of_3, strategy);
    ASSERT_TRUE(here["fits"].asBool()) << strategy;
    EXPECT_EQ(here["configured"].asBool(), stage == "2");
    EXPECT_EQ(there["configured"].asBool(), stage == "3");
    for (Json::Value* row : {&here, &there}) {
      row->removeMember("configured");
      row->removeMember("recommended");
    }
    EXPECT_EQ(here, there);
  }
  EXPECT_EQ(row_of(of_2, "DEEPSPEED_STAGE2")["busy_communication_s"],
            row_of(of_2, "DEEPSPEED_STAGE2")["exposed_communication_s"]);
  EXPECT_GT(row_of(of_2, "DEEPSPEED_STAGE3")["busy_communication_s"].asDouble(),
            row_of(of_2, "DEEPSPEED_STAGE3")["exposed_communication_s"].asDouble());
}

// As of a shell's <(...): it can be read once, and is asked about every stage.
TEST_F(PlanTest, ReadsAConfigurationFromAPipe) {
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream(pipe) << R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
                               "zero_optimization": {"stage": 2}})";
  });
  const Json::Value report = plan_json({"--deepspeed", pipe});
  writer.join();
  std::set<std::string> strategies;
  for (const Json::Value& row : report["plans"]) {
    strategies.insert(row["strategy"].asString());
  }
  EXPECT_EQ(strategies.size(), 4U) << report["left_out"];
}

// The batch of an optimizer step follows then; it is not what the file says.
TEST_F(PlanTest, AMicroBatchOfTheFileGivesWayToTheOptions) {
  const std::string config = folder.write(
      "ds.json", R"({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3,
                     "bf16": {"enabled": true}})");
  const Json::Value report =
      plan_json({"--deepspeed", config, "--ranks", "4", "--micro-batch", "4"});
  ASSERT_FALSE(report["plans"].empty());
  for (const Json::Value& row : report["plans"]) {
    EXPECT_EQ(row["micro_batch"], 4);
    EXPECT_EQ(row["accumulation"], 3);
  }
}

TEST_F(PlanTest, SaysWhatGoesBeforeAConfiguration) {
  const std::string config =
      folder.write("ds.json", R"({"train_batch_size": 16, "train_micro_batch_size_per_gpu": 2,
                     "bf16": {"enabled": true}, "gradient_clipping": 1.0, "zero_optimisation": 1})");
  const auto meaning_of = [](const Json::Value& report, const std::string& key) {
    for (const Json::Value& item : report["understood"]["keys"]) {
      if (item["key"] == key) {
        return item["meaning"].asString();
      }
    }
    return std::string("no such key");
  };
  const auto ends_with = [&](const Json::Value& report, const std::string& key,
                             const std::string& words) {
    EXPECT_TRUE(meaning_of(report, key).ends_with(words)) << meaning_of(report, key);
  };
  const Json::Value changed = plan_json({"--deepspeed", config, "--ranks", "4", "--micro-batch",
                                         "1", "--set", "training.precision=FP16"});
  ends_with(changed, "train_micro_batch_size_per_gpu", "; --micro-batch goes before it");
  ends_with(changed, "bf16.enabled", "; --set training.precision goes before it");
  ends_with(changed, "train_batch_size", "over all ranks");
  ends_with(changed, "gradient_clipping", "training.clip_norm");
  ends_with(plan_json({"--deepspeed", config, "--ranks", "4", "--set", "training.micro_batches=3"}),
            "train_batch_size", "; --set training.micro_batches goes before it");

  const std::string text = plan({"--deepspeed", config, "--ranks", "2,4"}).out;
  EXPECT_NE(text.find("gradient_accumulation_steps = train_batch_size /\n"
                      "    (train_micro_batch_size_per_gpu x ranks)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Candidates on 2 ranks, global batch 16, rows of 128 tokens\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("DEEPSPEED_STAGE0 2x4 ="), std::string::npos) << text;
  EXPECT_NE(text.find("DEEPSPEED_STAGE0 2x2 ="), std::string::npos) << text;
  EXPECT_LT(text.find("zero_optimisation = 1"), text.find("train_batch_size = 16")) << text;
}

// The same candidate, planned with the optimizer on the devices.
TEST_F(PlanTest, SaysWhatTheOptimizerOnTheHostCosts) {
  const auto with = [&](const std::string& memory, const std::string& offload) {
    return plan_json({"--ranks", "4", "--micro-batch", "1", "--strategy", "DEEPSPEED_STAGE1",
                      "--set", "options.bucket_elements=100000", "--set",
                      "cluster.device.memory=" + memory, "--set",
                      "training.optimizer_offload=" + offload});
  };
  const Json::Value on_host = with("28MB", "CPU");
  const Json::Value on_device = with("28MB", "NONE");
  const double cost =
      on_host["plans"][0]["step_s"].asDouble() / on_device["plans"][0]["step_s"].asDouble() - 1;
  ASSERT_GT(cost, 0.01);
  ASSERT_FALSE(on_host["plans"][0]["recompute"].asBool());
  ASSERT_FALSE(on_device["plans"][0]["recompute"].asBool());
  const std::string said = on_host["recommendations"][0]["reasons"][1].asString();
  EXPECT_EQ(said.find("The optimizer on the host costs " + std::to_string(std::lround(100 * cost)) +
                      " %: on the devices it would be "),
            0U)
      << said << " " << cost;

  const Json::Value lacking = with("24MB", "CPU");
  ASSERT_TRUE(lacking["plans"][0]["fits"].asBool()) << lacking;
  EXPECT_EQ(lacking["recommendations"][0]["reasons"][1].asString().find(
                "With the optimizer on the devices it does not fit: "),
            0U)
      << lacking["recommendations"];
}

// What is not simulated is as if it were.
TEST_F(PlanTest, CountsMicroStepsThatAreAlike) {
  for (const bool on_host : {false, true}) {
    for (const int micro_steps : {24, 31}) {
      const std::string offload =
          std::string("training.optimizer_offload=") + (on_host ? "CPU" : "NONE");
      const std::string accumulation = "training.micro_batches=" + std::to_string(micro_steps);
      const std::string strategies =
          on_host ? "ZERO2,DEEPSPEED_STAGE2"
                  : "ZERO1,ZERO3,TORCH_DDP,DEEPSPEED_STAGE2,DEEPSPEED_STAGE3,FSDP_FULL_SHARD";
      const std::vector<std::string> set = {
          "--strategy", strategies,   "--set", offload,
          "--set",      accumulation, "--set", "cluster.device.memory=10GB"};
      std::vector<std::string> arguments = {"--ranks", "4", "--micro-batch", "1"};
      arguments.insert(arguments.end(), set.begin(), set.end());
      const Json::Value report = plan_json(arguments);
      std::vector<std::string> of_run = set;
      for (const std::string& field :
           {"model.hf_config=" + model, std::string("training.steps=2"),
            "training.global_batch=" + std::to_string(4 * micro_steps),
            std::string("cluster.world_size=4"), std::string("cluster.collective.fidelity=FLOW")}) {
        of_run.insert(of_run.end(), {"--set", field});
      }
      const Json::Value runs = run_json(folder.write("run.textproto", kCluster), of_run)["runs"];
      int compared = 0;
      for (const Json::Value& row : report["plans"]) {
        EXPECT_EQ(row["simulated_micro_steps"], micro_steps == 24 ? 8 : 9) << row;
        for (const Json::Value& run : runs) {
          if (row["recompute"].asBool() || run["strategy"] != row["strategy"]) {
            continue;
          }
          ++compared;
          SCOPED_TRACE(row.toStyledString());
          const Json::Value& time = run["steps"][1]["time"];
          for (const auto& [here, there] :
               {std::pair("step_s", "wall_s"), std::pair("forward_s", "forward_s"),
                std::pair("backward_s", "backward_s"), std::pair("optimizer_s", "optimizer_s"),
                std::pair("exposed_communication_s", "exposed_communication_s"),
                std::pair("busy_communication_s", "busy_communication_s")}) {
            EXPECT_NEAR(row[here].asDouble(), time[there].asDouble(),
                        1e-9 * time["wall_s"].asDouble())
                << here;
          }
          std::uint64_t sent = 0;
          std::uint64_t peak = 0;
          for (const Json::Value& rank : run["ranks"]) {
            sent += rank["steps"][1]["sent_bytes"].asUInt64();
            peak = std::max(peak, rank["memory"]["peak_bytes"]["total"].asUInt64());
          }
          EXPECT_EQ(row["sent_inside_nodes_bytes"].asUInt64() +
                        row["sent_between_nodes_bytes"].asUInt64(),
                    sent / 4);
          EXPECT_EQ(row["peak_bytes"].asUInt64(), peak);
        }
      }
      EXPECT_EQ(compared, on_host ? 2 : 6);
    }
  }
}

TEST_F(PlanTest, SimulatesAllMicroStepsWhereSomethingChangesMeanwhile) {
  const Json::Value report =
      plan_json({"--ranks", "4", "--micro-batch", "1", "--strategy", "ZERO1", "--set",
                 "training.micro_batches=24", "--set",
                 "cluster.link_change={links: \"*\" change: {at: \"1s\" bandwidth: \"1Gbps\"}}"});
  EXPECT_EQ(report["plans"][0]["simulated_micro_steps"], 24);
}

// Owners of whole tensors hold unlike parts: what is lacking is what the fullest rank lacks, which
// the same plan on larger devices measures.
TEST_F(PlanTest, WhatIsLackingIsOfTheFullestRank) {
  for (const std::string strategy : {"ZERO_REDUNDANCY_OPTIMIZER", "DEEPSPEED_STAGE2", "ZERO3"}) {
    for (const std::string ranks : {"3", "4"}) {
      const auto peaks = [&](const std::string& memory) {
        std::vector<std::uint64_t> all;
        for (const Json::Value& row :
             plan_json({"--ranks", ranks, "--micro-batch", "1", "--strategy", strategy, "--set",
                        "cluster.device.memory=" + memory})["plans"]) {
          EXPECT_EQ(row["fits"].asBool(), memory == "1TB") << row;
          all.push_back(row["peak_bytes"].asUInt64());
          if (!row["fits"].asBool()) {
            EXPECT_EQ(row["lacking_bytes"].asUInt64(), all.back() - 1'000'000) << row;
          }
        }
        std::sort(all.begin(), all.end());
        return all;
      };
      EXPECT_EQ(peaks("1MB"), peaks("1TB")) << strategy << " on " << ranks;
    }
  }
}

// torch's own default: a copy of the model in each node.
TEST_F(PlanTest, TheHybridHasACopyPerNode) {
  const std::vector<std::string> one = {"--ranks", "6",          "--micro-batch",
                                        "1",       "--strategy", "FSDP_HYBRID_SHARD"};
  std::vector<std::string> with_size = one;
  with_size.insert(with_size.end(), {"--set", "options.shard_group_size=2"});
  const Json::Value rows = plan_json(one)["plans"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows, plan_json(with_size)["plans"]);
  for (const Json::Value& row : plan_json({"--ranks", "5", "--micro-batch", "1"})["plans"]) {
    EXPECT_NE(row["strategy"], "FSDP_HYBRID_SHARD") << "5 ranks fill no nodes of 2";
  }
}

// What a configuration says of other types follows from its precision, unless it is said.
TEST_F(PlanTest, APrecisionThatIsSetHasItsOwnReduction) {
  const std::string half = folder.write(
      "half.json", R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}})");
  const std::string whole = folder.write("whole.json", R"({"train_micro_batch_size_per_gpu": 1})");
  const std::vector<std::string> rest = {"--ranks",          "4",     "--strategy",
                                         "DEEPSPEED_STAGE1", "--set", "cluster.device.memory=10GB"};
  std::vector<std::string> of_half = {"--deepspeed", half, "--set", "training.precision=FP32"};
  std::vector<std::string> of_whole = {"--deepspeed", whole};
  of_half.insert(of_half.end(), rest.begin(), rest.end());
  of_whole.insert(of_whole.end(), rest.begin(), rest.end());
  EXPECT_EQ(plan_json(of_half)["plans"], plan_json(of_whole)["plans"]);
}

TEST_F(PlanTest, TakesItsRanksFromWhatIsGiven) {
  const auto ranks_of = [](const Json::Value& report) {
    std::set<int> ranks;
    for (const Json::Value& row : report["plans"]) {
      ranks.insert(row["ranks"].asInt());
    }
    return ranks;
  };
  const auto of_program = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--micro-batch", "1", "--json", "-"});
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ranks_of(parse_json(outcome.out));
  };
  const std::string four = folder.write("four.textproto",
                                        "cluster { world_size: 4 rank_speed { ranks: \"3\" "
                                        "speed: 0.5 } device { preset: \"a100-80g\" } link { "
                                        "bandwidth: \"10Gbps\" latency: \"1us\" } }");
  EXPECT_EQ(of_program({"plan", "--hf-config", model, "--cluster", four, "--strategy", "ZERO1"}),
            std::set<int>{4});
  EXPECT_EQ(of_program({"plan", shipped("straggler"), "--strategy", "ZERO1"}), std::set<int>{8});
  EXPECT_EQ(of_program({"plan", "--hf-config", model, "--cluster", cluster, "--strategy", "ZERO1"}),
            (std::set<int>{8, 64}));

  // A batch that 64 ranks cannot have leaves those out that nobody asked for.
  const std::string fixed =
      folder.write("fixed.json", R"({"train_batch_size": 24, "train_micro_batch_size_per_gpu": 3,
                        "bf16": {"enabled": true}})");
  const Json::Value report =
      plan_json({"--deepspeed", fixed, "--set", "cluster.device.memory=10GB"});
  EXPECT_EQ(ranks_of(report), std::set<int>{8});
  ASSERT_EQ(report["assumptions"]["left_out"].size(), 1U);
  EXPECT_EQ(report["assumptions"]["left_out"][0].asString().find("64 ranks: "), 0U);
  EXPECT_EQ(plan({"--deepspeed", fixed, "--ranks", "64"}).exit_code, 2);
}

// Sums of states that the host or more ranks could take are lacking, or they are not.
TEST_F(PlanTest, AdvisesWhatMayHelp) {
  const auto advice = [&](const std::string& strategy, const std::string& memory) {
    return plan_json({"--ranks", "4", "--micro-batch", "1", "--strategy", strategy, "--set",
                      "cluster.device.memory=" + memory})["recommendations"][0]["reasons"][2]
        .asString();
  };
  const std::string states = advice("ZERO3", "13MB");
  EXPECT_NE(states.find("more ranks"), std::string::npos) << states;
  EXPECT_NE(states.find("optimizer_offload"), std::string::npos) << states;
  for (const std::string& other : {advice("ZERO3", "1MB"), advice("TORCH_DDP", "30MB")}) {
    EXPECT_EQ(other.find("more ranks"), std::string::npos) << other;
    EXPECT_EQ(other.find("optimizer_offload"), std::string::npos) << other;
    EXPECT_NE(other.find("--sequence"), std::string::npos) << other;
  }
}

TEST_F(PlanTest, AccumulatesAsIsSet) {
  const std::string config =
      folder.write("ds.json", R"({"gradient_accumulation_steps": 4, "bf16": {"enabled": true},
                                  "train_micro_batch_size_per_gpu": 1})");
  for (const bool with_config : {false, true}) {
    std::vector<std::string> arguments = {"--ranks", "4",     "--micro-batch",
                                          "1",       "--set", "training.micro_batches=3"};
    if (with_config) {
      arguments.insert(arguments.end(), {"--deepspeed", config});
    }
    const Json::Value report = plan_json(arguments);
    ASSERT_FALSE(report["plans"].empty());
    for (const Json::Value& row : report["plans"]) {
      EXPECT_EQ(row["accumulation"], 3);
    }
  }
}

TEST_F(PlanTest, MarksTheConfigurationsOwnRow) {
  const std::string config =
      folder.write("ds.json", R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true},
                     "zero_optimization": {"stage": 1}})");
  const Outcome outcome = plan({"--deepspeed", config, "--ranks", "4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("DEEPSPEED_STAGE1 2 ="), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("DEEPSPEED_STAGE2 2 ="), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("= What the configuration asks for."), std::string::npos);
  const Outcome others =
      plan({"--deepspeed", config, "--ranks", "4", "--strategy", "DEEPSPEED_STAGE2"});
  EXPECT_EQ(others.out.find("= What the configuration asks for."), std::string::npos) << others.out;
}

TEST_F(PlanTest, SaysOnceWhatWasLeftOutOfSeveralStages) {
  const std::string config = folder.write("ds.json", R"({"train_batch_size": 8})");
  const Json::Value report =
      plan_json({"--deepspeed", config, "--ranks", "2", "--micro-batch", "2,3"});
  const Json::Value& left_out = report["assumptions"]["left_out"];
  ASSERT_EQ(left_out.size(), 1U) << left_out;
  EXPECT_EQ(left_out[0].asString().find("micro-batch 3 on 2 ranks"), 0U) << left_out;
}

TEST_F(PlanTest, ReadsAnAccelerateConfiguration) {
  const std::string config = folder.write(
      "fsdp.yaml",
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 4\nnum_machines: 2\n"
      "fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n"
      "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n");
  const Json::Value report = plan_json({"--accelerate", config});
  ASSERT_FALSE(report["plans"].empty());
  EXPECT_EQ(report["plans"][0]["ranks"], 4);
}

TEST_F(PlanTest, RefusesWhatCannotBe) {
  const auto expect = [&](std::vector<std::string> arguments, const std::string& words) {
    const Outcome outcome = plan(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  expect({"--ranks", "0"}, "0 is not allowed");
  expect({"--ranks", "2,x"}, "x is not allowed");
  expect({"--ranks", "2,,4"}, "--ranks 2,,4: an empty number is not allowed");
  expect({"--ranks", "8,2,8"}, "--ranks 8,2,8: 8 is there twice");
  expect({"--ranks", "2", "--micro-batch", "1,1"}, "--micro-batch 1,1: 1 is there twice");
  expect({"--micro-batch", ""}, "must not be empty");
  expect({"--ranks", "2", "--set", "training.micro_batches=0"}, "0 is not allowed");
  for (const std::string field :
       {"training.global_batch=8", "training.steps=2", "training.activation_checkpointing=1",
        "strategies=[DDP]", "cluster.world_size=4"}) {
    expect(
        {"--ranks", "2", "--set", field},
        "--set " + field + ": " + field.substr(0, field.find('=')) + ": is what the plan chooses");
  }
  expect({"--ranks", "2", "--set", "training={steps: 3}"},
         "--set training={steps: 3}: training.steps: is what the plan chooses");
  expect({"--ranks", "2", "--sequence", "0"}, "--sequence: 0 is not allowed");
  expect({"--ranks", "2", "--sequence", "64,64"}, "--sequence: 64,64 is not allowed");
  expect({"--ranks", "8", "--set", "cluster.nodes=2"}, "at least 4 for 8 ranks");
  expect({"--ranks", "2", "--strategy", "ZERO9"}, "did you mean");
  expect({"--ranks", "2", "--deepspeed", folder.path("none.json")}, "none.json");
  const std::string of_deepspeed =
      folder.write("stage1.json", R"({"train_micro_batch_size_per_gpu": 1,
                                      "bf16": {"enabled": true}})");
  expect({"--ranks", "2", "--deepspeed", of_deepspeed, "--strategy", "FSDP_FULL_SHARD"},
         "--strategy FSDP_FULL_SHARD: FSDP_FULL_SHARD is of another framework than the "
         "configuration; one of DEEPSPEED_STAGE0");
  const std::string machines = folder.write(
      "machines.yaml",
      "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 8\nnum_machines: 2\n");
  expect({"--accelerate", machines},
         "num_machines: 2 machines of 4 processes each, where the cluster's nodes have 2 devices");
  expect({"--sequence", "64", "--set", "model.sequence_length=32"}, "one of the two");
  const std::string contradiction =
      folder.write("ds.json", R"({"train_batch_size": 24, "train_micro_batch_size_per_gpu": 3,
                     "gradient_accumulation_steps": 4})");
  expect({"--ranks", "4", "--deepspeed", contradiction}, "24");
  expect({"--ranks", "2", "--deepspeed", contradiction, "--accelerate", contradiction},
         "one of the two");
  const std::string heads = folder.write("bad.json", [] {
    std::string text = kModel;
    return text.replace(text.find("\"num_attention_heads\": 8"), 24, "\"num_attention_heads\": 7");
  }());
  const Outcome outcome =
      run_program({"plan", "--hf-config", heads, "--cluster", cluster, "--ranks", "2"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("num_attention_heads"), std::string::npos) << outcome.err;
  const Outcome nothing = run_program({"plan", "--hf-config", model});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.err.find("--cluster"), std::string::npos) << nothing.err;
  const Outcome few = run_program({"plan", "--hf-config", model, "--cluster", "dgx-a100", "--ranks",
                                   "8", "--set", "cluster.nodes=0"});
  EXPECT_EQ(few.err.find("--set cluster.nodes=0: cluster.nodes: 0"), 0U) << few.err;
  const Outcome unknown = run_program({"plan", "--hf-config", model, "--cluster", "dgx-a10"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"dgx-a100\""), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace shardscope::testing
