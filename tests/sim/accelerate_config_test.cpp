#include <gtest/gtest.h>

#include "tests/sim/framework_files.h"

namespace shardscope {
namespace {

const ConfigContext kOpen = {.ranks = 0, .hidden_size = 1024, .micro_batch = 2};

ConfigOutcome read(std::string_view content) { return read_accelerate(content, kOpen); }

ConfigOutcome read_fsdp(const std::string& keys, const std::string& top = "") {
  return read("distributed_type: FSDP\nnum_processes: 8\n" + top + "fsdp_config:\n" + keys);
}

ConfigOutcome read_inline_deepspeed(const std::string& keys, const std::string& top = "") {
  return read("distributed_type: DEEPSPEED\nnum_processes: 4\n" + top + "deepspeed_config:\n" +
              keys);
}

// Autocast: 2 + 4 + 4 + 8 bytes per parameter and fp32 on the wire (8cP, SEMANTICS section 2).
TEST(AccelerateConfig, MultiGpuIsTorchDdpUnderAutocast) {
  const ConfigOutcome outcome =
      read("distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 8\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "TORCH_DDP");
  EXPECT_EQ(outcome.config->processes, 8);
  EXPECT_EQ(outcome.field("training.precision"), "BF16");
  EXPECT_EQ(outcome.field("training.fp32_gradient_accumulation"), "true");
  EXPECT_EQ(outcome.field("training.reduce_precision"), "FP32");
  EXPECT_EQ(scenario_faults(*outcome.config), "");
}

// accelerate's launcher starts one whatever num_processes says.
TEST(AccelerateConfig, NoWithSeveralProcessesIsRefused) {
  const ConfigOutcome outcome = read("distributed_type: NO\nnum_processes: 8\n");
  EXPECT_FALSE(outcome.config.has_value());
  EXPECT_NE(outcome.said().find("num_processes: 8 processes"), std::string::npos) << outcome.said();
  const ConfigOutcome asked =
      read_accelerate("distributed_type: NO\n", {.ranks = 2, .hidden_size = {}, .micro_batch = {}});
  EXPECT_FALSE(asked.config.has_value());
  EXPECT_TRUE(
      contains(asked.said(), "config.yaml:1:19: distributed_type: NO launches one process, not 2"));
}

TEST(AccelerateConfig, NoMeansOneProcessInFp32) {
  const ConfigOutcome outcome = read("distributed_type: NO\nmixed_precision: no\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "DDP");
  EXPECT_EQ(outcome.config->processes, 1);
  EXPECT_EQ(outcome.field("training.precision"), "FP32");
}

TEST(AccelerateConfig, ProcessesAreTheTotalOverMachines) {
  const ConfigOutcome outcome =
      read("distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 16\n");
  EXPECT_EQ(outcome.config->processes, 16);
  EXPECT_EQ(outcome.config->machines, 2);
  EXPECT_TRUE(
      contains(read("distributed_type: MULTI_GPU\nnum_machines: 3\nnum_processes: 16\n").said(),
               "config.yaml:3:16: num_processes: 16 processes are not shared evenly by 3"));
}

TEST(AccelerateConfig, Version1TakesAStrategyByNameOrNumber) {
  const auto strategy = [](const std::string& value) {
    return read_fsdp("  fsdp_sharding_strategy: " + value + "\n").config->strategy;
  };
  EXPECT_EQ(strategy("FULL_SHARD"), "FSDP_FULL_SHARD");
  EXPECT_EQ(strategy("1"), "FSDP_FULL_SHARD");
  EXPECT_EQ(strategy("'2'"), "FSDP_SHARD_GRAD_OP");
  EXPECT_EQ(strategy("no_shard"), "FSDP_NO_SHARD");
  EXPECT_EQ(strategy("4"), "FSDP_HYBRID_SHARD");
  EXPECT_EQ(read_fsdp("  fsdp_offload_params: false\n").config->strategy, "FSDP_FULL_SHARD");
  EXPECT_TRUE(contains(read_fsdp("  fsdp_sharding_strategy: FULL_SHRAD\n").said(),
                       "did you mean \"full_shard\"?"));
  EXPECT_FALSE(read_fsdp("  fsdp_sharding_strategy: 6\n").config.has_value());
}

TEST(AccelerateConfig, HybridShardsKeepACopyPerMachine) {
  const ConfigOutcome outcome =
      read_fsdp("  fsdp_sharding_strategy: HYBRID_SHARD_ZERO2\n", "num_machines: 2\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "FSDP_HYBRID_SHARD");
  EXPECT_EQ(outcome.field("options.shard_group_size"), "4");
  EXPECT_EQ(outcome.field("options.reshard_after_forward"), "false");
  EXPECT_EQ(scenario_faults(*outcome.config), "");
}

TEST(AccelerateConfig, FsdpReducesInItsHalfType) {
  const ConfigOutcome outcome = read_fsdp("  fsdp_version: 2\n", "mixed_precision: 'fp16'\n");
  EXPECT_EQ(outcome.field("training.precision"), "FP16");
  EXPECT_EQ(outcome.field("training.reduce_precision"), "FP16");
  EXPECT_EQ(outcome.field("training.fp32_gradient_accumulation"), "false");
  EXPECT_EQ(outcome.field("training.dynamic_loss_scale.initial"), "65536");
  EXPECT_EQ(scenario_faults(*outcome.config), "");
}

TEST(AccelerateConfig, Version2TakesTrueOrFalse) {
  const auto read_reshard = [](const std::string& value) {
    return read_fsdp("  fsdp_version: 2\n  fsdp_reshard_after_forward: " + value + "\n");
  };
  EXPECT_EQ(read_reshard("true").config->strategy, "FSDP_FULL_SHARD");
  EXPECT_EQ(read_reshard("false").config->strategy, "FSDP_SHARD_GRAD_OP");
  EXPECT_EQ(read_fsdp("  fsdp_version: 2\n").config->strategy, "FSDP_FULL_SHARD");
  EXPECT_TRUE(contains(read_reshard("FULL_SHARD").said(), "did you mean \"true\"?"));
  EXPECT_TRUE(contains(read_reshard("SHARD_GRAD_OP").said(), "did you mean \"false\"?"));
}

TEST(AccelerateConfig, Version1IgnoresWhatVersion2Reads) {
  const ConfigOutcome same = read_fsdp("  fsdp_reshard_after_forward: FULL_SHARD\n");
  ASSERT_TRUE(same.config.has_value()) << same.said();
  EXPECT_EQ(same.item("fsdp_config.fsdp_reshard_after_forward").effect, Effect::none);
  EXPECT_TRUE(contains(read_fsdp("  fsdp_reshard_after_forward: SHARD_GRAD_OP\n").said(),
                       "not looked at by version 1"));
}

TEST(AccelerateConfig, Version2IgnoresWhatVersion1Reads) {
  const ConfigOutcome outcome = read_fsdp(
      "  fsdp_version: 2\n  fsdp_backward_prefetch: BACKWARD_POST\n  fsdp_use_orig_params: true\n"
      "  fsdp_sync_module_states: true\n  fsdp_sharding_strategy: NO_SHARD\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "FSDP_FULL_SHARD");
  for (const char* key :
       {"backward_prefetch", "use_orig_params", "sync_module_states", "sharding_strategy"}) {
    const ConfigItem item = outcome.item("fsdp_config.fsdp_" + std::string(key));
    EXPECT_EQ(item.meaning, "has no effect at version 2") << key;
    EXPECT_EQ(item.effect, Effect::none) << key;
  }
}

TEST(AccelerateConfig, OffloadAndRecomputationAreAskedFor) {
  const ConfigOutcome outcome = read_fsdp(
      "  offload_params: true\n  fsdp_activation_checkpointing: true\n"
      "  fsdp_backward_prefetch: BACKWARD_POST\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->parameter_offload, Offload::cpu);
  EXPECT_EQ(outcome.config->optimizer_offload, Offload::cpu);
  EXPECT_TRUE(outcome.config->full_recomputation);
  EXPECT_EQ(outcome.item("fsdp_config.fsdp_backward_prefetch").effect, Effect::not_modelled);
  EXPECT_EQ(outcome.item("fsdp_config.fsdp_auto_wrap_policy").value, "NO_WRAP");
}

TEST(AccelerateConfig, CopiesOfShardsAreVersion2sGroups) {
  const ConfigOutcome outcome =
      read_fsdp("  fsdp_version: 2\n",
                "parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
                "  parallelism_config_dp_shard_size: 4\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "FSDP_HYBRID_SHARD");
  EXPECT_EQ(outcome.field("options.shard_group_size"), "4");
  EXPECT_EQ(scenario_faults(*outcome.config), "");
  EXPECT_TRUE(contains(read_fsdp("  fsdp_version: 2\n",
                                 "parallelism_config:\n  parallelism_config_dp_shard_size: 4\n")
                           .said(),
                       "1 copies x 4 shards = 4 are not the 8 processes"));
  EXPECT_TRUE(contains(
      read_fsdp("  fsdp_version: 2\n", "parallelism_config:\n  parallelism_config_cp_size: 2\n")
          .said(),
      "context parallelism is not modelled"));
}

TEST(AccelerateConfig, InlineDeepSpeedIsWhatAccelerateMakesOfIt) {
  const ConfigOutcome outcome = read_inline_deepspeed(
      "  zero_stage: 3\n  gradient_accumulation_steps: 4\n  gradient_clipping: 1.0\n"
      "  offload_optimizer_device: cpu\n  zero3_init_flag: true\n",
      "mixed_precision: bf16\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "DEEPSPEED_STAGE3");
  EXPECT_EQ(outcome.config->optimizer_offload, Offload::cpu);
  EXPECT_EQ(outcome.config->parameter_offload, Offload::none);
  EXPECT_EQ(outcome.config->accumulation, 4U);
  EXPECT_EQ(outcome.config->train_batch, 32U);  // 2 x 4 x 4 processes
  EXPECT_EQ(outcome.field("training.clip_norm"), "1.0");
  EXPECT_EQ(outcome.field("training.precision"), "BF16");
  EXPECT_EQ(outcome.field("training.reduce_precision"), "BF16");
  EXPECT_EQ(outcome.field("options.prefetch_elements"), "50000000");
  EXPECT_EQ(outcome.item("zero_optimization.stage3_prefetch_bucket_size").origin,
            Origin::by_default);
  EXPECT_EQ(scenario_faults(*outcome.config), "");
  EXPECT_EQ(read_inline_deepspeed("  zero3_init_flag: false\n").config->strategy,
            "DEEPSPEED_STAGE2");
  EXPECT_TRUE(contains(read_inline_deepspeed("  zero_stage: 4\n").said(),
                       "config.yaml:4:15: deepspeed_config.zero_stage: 4 is not allowed"));
  EXPECT_TRUE(
      contains(read_inline_deepspeed("  zero_stage: 3\n  offload_param_device: nvme\n").said(),
               "NVMe is not modelled"));
}

TEST(AccelerateConfig, ADeepSpeedFileIsReadFromTheFoldersPath) {
  const TemporaryFolder folder;
  folder.write("zero.json", R"({"zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"},
                                "bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": 3})");
  ConfigOutcome outcome;
  outcome.config =
      read_accelerate_config({folder.path("config.yaml"),
                              "distributed_type: DEEPSPEED\nnum_processes: 4\ndeepspeed_config:\n"
                              "  deepspeed_config_file: zero.json\n  zero3_init_flag: false\n"},
                             kOpen, outcome.faults);
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.config->strategy, "DEEPSPEED_STAGE2");
  EXPECT_EQ(outcome.config->train_batch, 12U);
  EXPECT_EQ(outcome.config->processes, 4);
  EXPECT_EQ(outcome.field("options.bucket_elements"), "1048576");
  EXPECT_EQ(outcome.item("bf16.enabled").effect, Effect::modelled);
  EXPECT_EQ(outcome.item("deepspeed_config.zero_stage").key, "");
}

TEST(AccelerateConfig, AMissingFileAndKeysBesideItAreRefused) {
  const ConfigOutcome absolute = read_inline_deepspeed(
      "  deepspeed_config_file: /no/such/zero.json\n  zero_stage: 2\n", "mixed_precision: bf16\n");
  EXPECT_EQ(absolute.faults.size(), 3U) << absolute.said();
  EXPECT_TRUE(contains(absolute.said(),
                       "\"/no/such/zero.json\" is not there; a path on this "
                       "machine; the absolute one may be of another"));
  EXPECT_TRUE(contains(absolute.said(), "zero_stage: is refused by Accelerate beside"));
  EXPECT_TRUE(contains(absolute.said(), "mixed_precision: is refused by Accelerate beside"));
  EXPECT_TRUE(contains(read_inline_deepspeed("  deepspeed_config_file: zero.json\n").said(),
                       "relative to the folder of config.yaml"));
}

TEST(AccelerateConfig, UnknownKeysAreFaultsAtTheTopAndIgnoredBelow) {
  EXPECT_EQ(read("distributed_type: MULTI_GPU\nmixed_precison: bf16\nnum_processes: 2\n").said(),
            "config.yaml:2:17: mixed_precison: unknown key; did you mean \"mixed_precision\"?\n");
  const ConfigOutcome outcome = read_fsdp("  fsdp_offload_parms: true\n");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_TRUE(contains(outcome.item("fsdp_config.fsdp_offload_parms").meaning,
                       "did you mean \"fsdp_offload_params\"?"));
}

TEST(AccelerateConfig, WhatIsNotModelledIsRefused) {
  for (const char* content :
       {"distributed_type: MEGATRON_LM\n", "distributed_type: XLA\n",
        "distributed_type: MULTI_CPU\n", "distributed_type: MULTI_GPU\nmixed_precision: fp8\n",
        "distributed_type: MULTI_GPU\nuse_cpu: true\n",
        "distributed_type: MULTI_GPU\ncompute_environment: AMAZON_SAGEMAKER\n"}) {
    EXPECT_TRUE(contains(read(content).said(), "not modelled")) << content;
  }
  EXPECT_TRUE(
      contains(read("distributed_type: MULTI_GPUS\n").said(), "did you mean \"multi_gpu\"?"));
  EXPECT_TRUE(contains(read("mixed_precision: bf16\n").said(), "distributed_type: is missing"));
}

TEST(AccelerateConfig, OtherFormatsAreRefusedByName) {
  EXPECT_TRUE(contains(
      read("base_model: m\nfsdp:\n  - full_shard\nfsdp_config:\n  fsdp_version: 2\n").said(),
      "config.yaml:1:13: base_model: is a key of axolotl's format"));
  EXPECT_TRUE(
      contains(read("{\n  # parts\n  \"pipe_parallel_size\": 4,\n  \"on\": True,\n}").said(),
               "GPT-NeoX's format"));
  EXPECT_TRUE(contains(read(R"({"fsdp": "full_shard", "fsdp_config": {}})").said(),
                       "Hugging Face TrainingArguments"));
  EXPECT_TRUE(
      contains(read(R"({"zero_optimization": {"stage": 2}})").said(), "DeepSpeed's format"));
}

TEST(AccelerateConfig, WhatIsNoYamlMappingIsRefusedWithItsPlace) {
  EXPECT_TRUE(contains(read("").said(), "is empty"));
  EXPECT_TRUE(contains(read("- FSDP\n").said(), "is no configuration"));
  EXPECT_TRUE(contains(read("distributed_type: [FSDP\n").said(), "is not YAML"));
  EXPECT_TRUE(contains(read("a: 1\n---\nb: 2\n").said(), "goes on after its first document"));
  EXPECT_TRUE(contains(read("debug: true\ndebug: false\n").said(),
                       "config.yaml:2:1: debug: is given twice"));
}

// yaml-cpp 0.7's LoadAll reads documents without end here.
TEST(AccelerateConfig, ABracketAfterTheDocumentEndsTheReading) {
  EXPECT_TRUE(contains(read("{\"debug\": true\n}\n},\n\"a\": 1\n").said(), "config.yaml"));
}

// Ten levels of ten aliases would be ten thousand million values.
TEST(AccelerateConfig, AliasesThatMultiplyAreRefused) {
  std::string content = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int level = 1; level < 10; ++level) {
    const std::string below = "*a" + std::to_string(level - 1);
    const std::string name = "a" + std::to_string(level);
    content += name + ": &" + name + " [" + below;
    for (int i = 1; i < 10; ++i) content += ", " + below;
    content += "]\n";
  }
  EXPECT_TRUE(contains(read(content).said(), "too many values"));
}

}  // namespace
}  // namespace shardscope
