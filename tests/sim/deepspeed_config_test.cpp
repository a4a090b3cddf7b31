#include <gtest/gtest.h>

#include "tests/sim/framework_files.h"

namespace shardscope {
namespace {

const ConfigContext kEightRanks = {.ranks = 8, .hidden_size = 4096, .micro_batch = 2};

ConfigOutcome read(std::string_view content) { return read_deepspeed(content, kEightRanks); }

// With a batch, which every file needs.
ConfigOutcome read_with_batch(const std::string& members) {
  return read("{\"train_batch_size\": 16, " + members + "}");
}

std::string refusal(const std::string& members) {
  const ConfigOutcome outcome = read_with_batch(members);
  EXPECT_FALSE(outcome.config.has_value()) << members;
  EXPECT_FALSE(outcome.faults.empty()) << members;
  return outcome.said();
}

TEST(DeepSpeedConfig, EveryStageIsItsStrategyWithDeepSpeedsDefaults) {
  for (int stage = 0; stage <= 3; ++stage) {
    const ConfigOutcome outcome =
        read_with_batch("\"zero_optimization\": {\"stage\": " + std::to_string(stage) + "}");
    ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
    EXPECT_EQ(outcome.config->strategy, "DEEPSPEED_STAGE" + std::to_string(stage));
    EXPECT_EQ(outcome.field("options.bucket_elements"), "500000000");
    EXPECT_EQ(outcome.field("options.overlap"), stage == 0 ? "-" : stage == 3 ? "true" : "false");
    EXPECT_EQ(outcome.field("options.prefetch_elements"), stage == 3 ? "50000000" : "-");
    EXPECT_EQ(outcome.field("options.persistence_threshold"), stage == 3 ? "100000" : "-");
    EXPECT_EQ(outcome.field("training.precision"), "FP32");
    EXPECT_EQ(outcome.field("training.clip_norm"), "0");
    EXPECT_EQ(scenario_faults(*outcome.config), "");
  }
}

TEST(DeepSpeedConfig, TrueAndFalseAreStages1And0) {
  EXPECT_EQ(read_with_batch("\"zero_optimization\": true").config->strategy, "DEEPSPEED_STAGE1");
  EXPECT_EQ(read_with_batch("\"zero_optimization\": false").config->strategy, "DEEPSPEED_STAGE0");
  EXPECT_EQ(read_with_batch("\"steps_per_print\": 1e5").config->strategy, "DEEPSPEED_STAGE0");
}

// Accelerate: h^2, int(0.9 h^2), 10 h; for h = 4096 DeepSpeed#6525's 15099494.
TEST(DeepSpeedConfig, AutoSizesFollowFromTheHiddenSize) {
  const std::string members = R"("zero_optimization": {"stage": 3, "reduce_bucket_size": "auto",
      "stage3_prefetch_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"})";
  const ConfigOutcome outcome = read_with_batch(members);
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.field("options.bucket_elements"), "16777216");
  EXPECT_EQ(outcome.field("options.prefetch_elements"), "15099494");
  EXPECT_EQ(outcome.field("options.persistence_threshold"), "40960");
  EXPECT_EQ(outcome.item("zero_optimization.reduce_bucket_size").origin, Origin::resolved);
  EXPECT_EQ(outcome.item("zero_optimization.reduce_bucket_size").value, "16777216");

  const ConfigOutcome unknown = read_deepspeed("{\"train_batch_size\": 16, " + members + "}",
                                               {.ranks = 8, .hidden_size = {}, .micro_batch = {}});
  EXPECT_EQ(unknown.faults.size(), 3U) << unknown.said();
  EXPECT_TRUE(contains(unknown.said(), "hidden size"));
}

TEST(DeepSpeedConfig, WholeNumbersMayHaveAnExponentButNoFraction) {
  EXPECT_EQ(read_with_batch(R"("zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8})")
                .field("options.bucket_elements"),
            "200000000");
  EXPECT_EQ(refusal("\n\"zero_optimization\": {\"stage\": 3,\n"
                    "  \"stage3_prefetch_bucket_size\": 15099494.4}"),
            "config.json:3:34: zero_optimization.stage3_prefetch_bucket_size: 15099494.4 is not "
            "allowed; did you mean \"15099494\"? (a whole number from 0)\n");
}

TEST(DeepSpeedConfig, NamesHoldWithAndWithoutTheirPrefix) {
  const ConfigOutcome outcome = read_with_batch(
      R"("zero_optimization": {"stage": 3, "max_live_parameters": 0, "stage3_max_reuse_distance": 7})");
  EXPECT_EQ(outcome.field("options.max_live_parameters"), "0");
  EXPECT_EQ(outcome.field("options.max_reuse_distance"), "7");
  EXPECT_TRUE(contains(refusal(R"("zero_optimization": {"stage": 3, "max_live_parameters": 0,
                         "stage3_max_live_parameters": 0})"),
                       "a second time"));
}

TEST(DeepSpeedConfig, SizesBeyondAnyModelAndOfNothingStayInTheScenariosRange) {
  const ConfigOutcome outcome = read_with_batch(
      R"("zero_optimization": {"stage": 3, "stage3_max_live_parameters": 1e18,
         "reduce_bucket_size": 0, "sub_group_size": 0})");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.field("options.max_live_parameters"), "10000000000000");
  EXPECT_EQ(outcome.field("options.bucket_elements"), "1");
  EXPECT_EQ(outcome.item("zero_optimization.sub_group_size").effect, Effect::not_modelled);
  EXPECT_EQ(scenario_faults(*outcome.config), "");
}

TEST(DeepSpeedConfig, AModelThresholdOfZeroKeepsNothingWhole) {
  EXPECT_EQ(read_with_batch(
                R"("zero_optimization": {"stage": 3, "stage3_model_persistence_threshold": 0})")
                .field("options.persistence_threshold"),
            "0");
}

TEST(DeepSpeedConfig, UnknownKeysInsideBlocksAreFaultsWithTheNearestKey) {
  EXPECT_EQ(
      refusal("\"zero_optimization\": {\"stage\": 3, \"stage3_param_persitance_threshold\": 1,"
              "\n\"cpu_offload_params\": true},\n"
              "\"fp16\": {\"enable\": true}, \"bf16\": {\"enabeld\": true}"),
      "config.json:1:97: zero_optimization.stage3_param_persitance_threshold: unknown key; did "
      "you mean \"stage3_param_persistence_threshold\"?\n"
      "config.json:2:23: zero_optimization.cpu_offload_params: unknown key; did you mean "
      "\"cpu_offload_param\"?\n"
      "config.json:3:20: fp16.enable: unknown key; did you mean \"enabled\"?\n"
      "config.json:3:47: bf16.enabeld: unknown key; did you mean \"enabled\"?\n");
}

TEST(DeepSpeedConfig, UnknownKeysAtTheTopAreSaidToBeIgnored) {
  const ConfigOutcome outcome =
      read_with_batch(R"("gradient_cliping": 1.0, "comment": "mine", "scheduler": {"type": "x"})");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_EQ(outcome.item("gradient_cliping").effect, Effect::unknown);
  EXPECT_TRUE(contains(outcome.item("gradient_cliping").meaning, "\"gradient_clipping\""));
  EXPECT_EQ(outcome.item("comment").effect, Effect::unknown);
  EXPECT_EQ(outcome.item("scheduler").effect, Effect::none);
  EXPECT_EQ(outcome.field("training.clip_norm"), "0");
}

TEST(DeepSpeedConfig, EveryKeyOfTheFileIsAccountedForInItsOrder) {
  const ConfigOutcome outcome =
      read(R"({"wandb": {}, "train_batch_size": 16, "bf16": {"enabled": true},
               "zero_optimization": {"overlap_comm": true, "stage": 1}, "fp16": {}})");
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  std::vector<std::string> keys;
  for (const ConfigItem& item : outcome.config->items) {
    if (item.origin == Origin::given) keys.push_back(item.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"wandb", "train_batch_size", "bf16.enabled",
                                            "zero_optimization.overlap_comm",
                                            "zero_optimization.stage", "fp16"}));
}

TEST(DeepSpeedConfig, BatchSizesAreWorkedOut) {
  const auto batch = [](std::string_view content) {
    const ConfigOutcome outcome = read(content);
    return std::vector<std::uint64_t>{outcome.config->train_batch.value_or(0),
                                      outcome.config->micro_batch.value_or(0),
                                      outcome.config->accumulation.value_or(0)};
  };
  using Batch = std::vector<std::uint64_t>;
  EXPECT_EQ(batch(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2})"),
            (Batch{64, 2, 4}));
  EXPECT_EQ(batch(R"({"train_batch_size": 64, "gradient_accumulation_steps": 2})"),
            (Batch{64, 4, 2}));
  EXPECT_EQ(batch(R"({"train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 5})"),
            (Batch{120, 3, 5}));
  EXPECT_EQ(batch(R"({"train_batch_size": 64})"), (Batch{64, 8, 1}));
  EXPECT_EQ(batch(R"({"train_micro_batch_size_per_gpu": 3})"), (Batch{24, 3, 1}));
  EXPECT_EQ(batch(R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
                      "gradient_accumulation_steps": "auto"})"),
            (Batch{16, 2, 1}));
}

TEST(DeepSpeedConfig, ContradictingBatchSizesShowTheEquation) {
  const ConfigOutcome product = read(R"({"train_batch_size": 64,
      "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1})");
  EXPECT_TRUE(contains(product.said(),
                       "64 is not 4 (micro-batch) x 1 (accumulation) x 8 (ranks) "
                       "= 32"));
  EXPECT_TRUE(product.faults.at(0).of_combination);
  const ConfigOutcome rest =
      read(R"({"train_batch_size": 36, "train_micro_batch_size_per_gpu": 3})");
  EXPECT_TRUE(contains(rest.said(), "36 is no multiple of 3 (micro-batch) x 8 (ranks) = 24"));
}

TEST(DeepSpeedConfig, OpenBatchSizesStayOpen) {
  const ConfigOutcome outcome =
      read_deepspeed(R"({"train_micro_batch_size_per_gpu": "auto"})", ConfigContext{});
  ASSERT_TRUE(outcome.config.has_value()) << outcome.said();
  EXPECT_FALSE(outcome.config->train_batch.has_value());
  EXPECT_FALSE(outcome.config->micro_batch.has_value());
}

TEST(DeepSpeedConfig, AutoPrecisionIsBf16UnlessFp16IsOn) {
  const auto precision = [](const std::string& members) {
    return read_with_batch(members).field("training.precision");
  };
  EXPECT_EQ(precision(R"("fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"})"), "BF16");
  EXPECT_EQ(precision(R"("fp16": {"enabled": true}, "bf16": {"enabled": "auto"})"), "FP16");
  EXPECT_EQ(precision(R"("fp16": {"enabled": "auto"})"), "FP16");
  EXPECT_EQ(precision(R"("fp16": {"enabled": false}, "bfloat16": {"enabled": true})"), "BF16");
  EXPECT_TRUE(contains(refusal(R"("fp16": {"enabled": true}, "bf16": {"enabled": true})"),
                       "bf16.enabled: is true, and fp16.enabled is too"));
}

TEST(DeepSpeedConfig, LossScalesAreDynamicAtZero) {
  const ConfigOutcome dynamic = read_with_batch(
      R"("fp16": {"enabled": true, "loss_scale": 0, "initial_scale_power": 32, "hysteresis": 3})");
  EXPECT_EQ(dynamic.field("training.dynamic_loss_scale.initial"), "4.2949673e+09");
  EXPECT_EQ(dynamic.field("training.dynamic_loss_scale.growth_interval"), "1000");
  EXPECT_EQ(dynamic.field("training.dynamic_loss_scale.hysteresis"), "3");
  EXPECT_EQ(scenario_faults(*dynamic.config), "");
  const ConfigOutcome fixed =
      read_with_batch(R"("fp16": {"enabled": true, "loss_scale": 1024, "hysteresis": 2})");
  EXPECT_EQ(fixed.field("training.loss_scale"), "1024");
  EXPECT_EQ(fixed.field("training.dynamic_loss_scale.initial"), "-");
  EXPECT_EQ(fixed.item("fp16.hysteresis").effect, Effect::none);
}

TEST(DeepSpeedConfig, OffloadingIsTheDevicesAtTheStagesThatHaveIt) {
  const auto offload = [](const std::string& zero) {
    const ConfigOutcome outcome = read_with_batch("\"zero_optimization\": {" + zero + "}");
    EXPECT_TRUE(outcome.config.has_value()) << outcome.said();
    return std::pair(outcome.config->optimizer_offload, outcome.config->parameter_offload);
  };
  using Both = std::pair<Offload, Offload>;
  const std::string blocks =
      R"("offload_optimizer": {"device": "cpu", "pin_memory": true}, "offload_param": {"device": "cpu"})";
  EXPECT_EQ(offload("\"stage\": 3, " + blocks), (Both{Offload::cpu, Offload::cpu}));
  EXPECT_EQ(offload("\"stage\": 2, " + blocks), (Both{Offload::cpu, Offload::none}));
  EXPECT_EQ(offload("\"stage\": 0, " + blocks), (Both{Offload::none, Offload::none}));
  EXPECT_EQ(offload(R"("stage": 3, "cpu_offload": true, "cpu_offload_param": true)"),
            (Both{Offload::cpu, Offload::cpu}));
  EXPECT_EQ(offload(R"("stage": 2, "cpu_offload": false)"), (Both{Offload::none, Offload::none}));
  EXPECT_EQ(offload(R"("stage": 3, "offload_optimizer": {"device": "none"})"),
            (Both{Offload::none, Offload::none}));
  EXPECT_TRUE(
      contains(refusal(R"("zero_optimization": {"stage": 3, "offload_param": {"device": "nvme"}})"),
               "offload to NVMe is not modelled"));
  EXPECT_TRUE(contains(refusal(R"("zero_optimization": {"stage": 3, "cpu_offload": true,
                         "offload_optimizer": {"device": "cpu"}})"),
                       "deprecated"));
}

TEST(DeepSpeedConfig, AdamIsAdamWUnlessItsModeIsOff) {
  const auto name = [](const std::string& optimizer) {
    return read_with_batch("\"optimizer\": " + optimizer).field("training.optimizer.name");
  };
  EXPECT_EQ(name(R"({"type": "Adam", "params": {"lr": 1e-3}})"), "ADAMW");
  EXPECT_EQ(name(R"({"type": "Adam", "params": {"adam_w_mode": false}})"), "ADAM");
  EXPECT_EQ(name(R"({"type": "AdamW", "params": {"adam_w_mode": false}})"), "ADAMW");
  EXPECT_EQ(name(R"({"type": "Lamb", "params": {"max_coeff": 0.3}})"), "ADAM");
  EXPECT_EQ(name(R"({"params": {}})"), "-");
}

TEST(DeepSpeedConfig, AdamsNumbersAreTheScenarios) {
  const ConfigOutcome outcome = read_with_batch(
      R"("optimizer": {"type": "AdamW", "params": {"lr": 3e-5, "betas": [0.8, 0.95],
         "eps": 1e-7, "weight_decay": "auto"}})");
  EXPECT_EQ(outcome.field("training.optimizer.learning_rate"), "3e-5");
  EXPECT_EQ(outcome.field("training.optimizer.beta1"), "0.8");
  EXPECT_EQ(outcome.field("training.optimizer.beta2"), "0.95");
  EXPECT_EQ(outcome.field("training.optimizer.epsilon"), "1e-7");
  EXPECT_EQ(outcome.field("training.optimizer.weight_decay"), "-");
  EXPECT_EQ(scenario_faults(*outcome.config), "");
}

// Stage 1 with bf16 and fp32 accumulation reduces in fp32 (SEMANTICS: 4P of gradients); the others
// in the parameters' type.
TEST(DeepSpeedConfig, GradientsTravelInTheTypeThatDeepSpeedReduces) {
  const auto types = [](int stage, const std::string& members) {
    const ConfigOutcome outcome =
        read_with_batch("\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": " +
                        std::to_string(stage) + "}" + members);
    return outcome.field("training.fp32_gradient_accumulation") + " " +
           outcome.field("training.reduce_precision");
  };
  const std::string fp32_accumulation = R"(, "data_types": {"grad_accum_dtype": "fp32"})";
  EXPECT_EQ(types(1, ""), "false BF16");
  EXPECT_EQ(types(1, fp32_accumulation), "true FP32");
  EXPECT_EQ(types(2, fp32_accumulation), "true BF16");
  EXPECT_EQ(types(2, R"(, "communication_data_type": "fp32")"), "false FP32");
  EXPECT_EQ(types(1, R"(, "communication_data_type": "bf16")" + fp32_accumulation), "true BF16");
}

TEST(DeepSpeedConfig, WhatWouldMakeMemoryOrTrafficWrongIsRefused) {
  for (
      const char* members :
      {R"("zero_optimization": {"stage": 3, "zero_quantized_weights": true})",
       R"("zero_optimization": {"stage": 3, "zero_quantized_gradients": true})",
       R"("zero_optimization": {"stage": 3, "zero_hpz_partition_size": 8})",
       R"("zero_optimization": {"stage": 3, "mics_shard_size": 8})",
       R"("zero_optimization": {"stage": 2, "use_multi_rank_bucket_allreduce": false})",
       R"("zero_optimization": {"stage": 3, "stage3_use_all_reduce_for_fetch_params": true})",
       R"("zero_optimization": {"stage": 2, "zenflow": {"topk_ratio": 0.1}})",
       R"("zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5}})",
       R"("bf16": {"enabled": true, "bf16_master_weights_and_grads": true})",
       R"("fp16": {"enabled": true, "fp16_master_weights_and_grads": true})",
       R"("sequence_parallel_size": 2)", R"("tensor_parallel": {"autotp_size": 2})",
       R"("amp": {"enabled": true})", R"("torch_autocast": {"enabled": true})",
       R"("activation_checkpointing": {"cpu_checkpointing": true})",
       R"("zero_optimization": {"stage": 3}, "compile": {"deepcompile": true})",
       R"("optimizer": {"type": "OneBitAdam", "params": {"freeze_step": 4}})",
       R"("optimizer": {"type": "Muon"})",
       R"("optimizer": {"type": "Adam", "params": {"amsgrad": true}})"}) {
    EXPECT_TRUE(contains(refusal(members), "not modelled")) << members;
  }
  for (const char* members :
       {R"("zero_optimization": {"stage": 3, "zero_hpz_partition_size": 1, "mics_shard_size": -1})",
        R"("zero_optimization": {"stage": 2, "zero_hpz_partition_size": 8})",
        R"("zero_optimization": {"stage": 2, "zero_quantized_weights": false})",
        R"("zero_optimization": {"stage": 2}, "compile": {"deepcompile": true})",
        R"("tensor_parallel": {"autotp_size": 1}, "amp": {"enabled": false})"}) {
    const ConfigOutcome outcome = read_with_batch(members);
    EXPECT_TRUE(outcome.config.has_value()) << outcome.said();
  }
}

TEST(DeepSpeedConfig, WrongTypesAndRangesAreFaultsAllAtOnce) {
  const ConfigOutcome outcome = read(R"({"train_batch_size": -4, "gradient_clipping": "1",
      "bf16": true, "optimizer": {"type": 7, "params": {"betas": [0.9]}},
      "zero_optimization": {"stage": 4, "overlap_comm": 1, "offload_param": {"device": "gpu"}}})");
  EXPECT_EQ(outcome.faults.size(), 8U) << outcome.said();
  EXPECT_TRUE(
      contains(outcome.said(), "train_batch_size: -4 is not allowed; a whole number from 1"));
  EXPECT_TRUE(contains(outcome.said(), "stage: 4 is not allowed; a whole number from 0 to 3"));
  EXPECT_TRUE(contains(outcome.said(), "overlap_comm: 1 is not allowed; true or false"));
  EXPECT_TRUE(contains(outcome.said(), "device: \"gpu\" is not allowed"));
  EXPECT_TRUE(contains(outcome.said(), "bf16: true is not allowed; a block of keys"));
}

TEST(DeepSpeedConfig, CommentsAndTrailingCommasAreRead) {
  const ConfigOutcome outcome = read("{ // rows\n\"train_batch_size\": 16, /* none */\n}");
  EXPECT_TRUE(outcome.config.has_value()) << outcome.said();
}

TEST(DeepSpeedConfig, WhatIsNoJsonObjectIsRefusedWithItsPlace) {
  EXPECT_TRUE(contains(read("").said(), "config.json: is empty"));
  EXPECT_TRUE(contains(read("[1, 2]").said(), "[...] is no configuration"));
  EXPECT_TRUE(
      contains(read("{\n  \"a\": 1\n  \"b\": 2\n}").said(), "config.json:3:3: is not JSON"));
  EXPECT_TRUE(contains(read("{\"a\": 1,\n\"a\": 2}").said(), "Duplicate key"));
  EXPECT_TRUE(contains(read("{\"a\": " + std::string(3000, '[')).said(), "nested too deeply"));
}

TEST(DeepSpeedConfig, OtherFormatsAreRefusedByName) {
  EXPECT_TRUE(
      contains(read(R"({"pipe-parallel-size": 1, "zero_optimization": {"stage": 1}})").said(),
               "GPT-NeoX's format"));
  EXPECT_TRUE(
      contains(read("# a model\n{\n  \"pipe_parallel_size\": 4,\n  \"overlap\": True,\n}").said(),
               "config.json:3:3: pipe_parallel_size: is a key of GPT-NeoX's format"));
  EXPECT_TRUE(contains(read(R"({"fsdp": "shard_grad_op auto_wrap", "fsdp_config": {}})").said(),
                       "Hugging Face TrainingArguments"));
  EXPECT_TRUE(contains(read("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n").said(),
                       "Accelerate's format"));
}

TEST(DeepSpeedConfig, OverridesNameTheFileAndTheKey) {
  const ConfigOutcome outcome = read("{\"train_batch_size\": 16,\n\"gradient_clipping\": 1.0}");
  const auto& overrides = outcome.config->overrides;
  EXPECT_TRUE(std::any_of(overrides.begin(), overrides.end(), [](const Override& replacement) {
    return replacement.argument == "config.json:2: gradient_clipping" &&
           replacement.assignment == "training.clip_norm=1.0";
  }));
}

}  // namespace
}  // namespace shardscope
