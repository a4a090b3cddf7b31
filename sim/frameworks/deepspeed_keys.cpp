#include "sim/frameworks/deepspeed_keys.h"

namespace shardscope {
namespace {

constexpr unsigned kZero = 0b1110;
constexpr unsigned kStages1And2 = 0b0110;
constexpr unsigned kStage3 = 0b1000;

constexpr double kUint32 = 4294967295.0;

// Rules in the words of the tables below.
KeyRule read(std::string_view key, KeyType type, std::string_view default_value,
             std::string_view meaning) {
  return {.key = key,
          .type = type,
          .default_value = default_value,
          .use = Use::read,
          .meaning = meaning};
}

KeyRule block(std::string_view key) {
  return {.key = key, .type = KeyType::block, .use = Use::parts};
}

KeyRule option(std::string_view key, KeyType type, std::string_view default_value,
               std::string_view field, unsigned stages = 0b1111) {
  return {.key = key,
          .type = type,
          .default_value = default_value,
          .use = Use::option,
          .field = field,
          .stages = stages};
}

// stage3_NAME, which may be written NAME.
KeyRule stage3_option(std::string_view key, std::string_view alias, std::string_view default_value,
                      std::string_view field) {
  KeyRule rule = option(key, KeyType::whole, default_value, field, kStage3);
  rule.alias = alias;
  return rule;
}

KeyRule none(std::string_view key, std::string_view meaning, KeyType type = KeyType::any) {
  return {.key = key, .type = type, .use = Use::none, .meaning = meaning};
}

KeyRule note(std::string_view key, std::string_view meaning, KeyType type = KeyType::any,
             unsigned stages = 0b1111) {
  return {.key = key,
          .type = type,
          .default_value = type == KeyType::boolean ? "false" : "",
          .use = Use::note,
          .meaning = meaning,
          .stages = stages};
}

KeyRule refused(std::string_view key, KeyType type, std::string_view default_value,
                std::string_view meaning) {
  return {.key = key,
          .type = type,
          .default_value = default_value,
          .use = Use::refused,
          .meaning = meaning};
}

KeyRule from(KeyRule rule, double low, double high = std::numeric_limits<double>::max()) {
  rule.low = low;
  rule.high = high;
  return rule;
}

KeyRule of(KeyRule rule, std::string_view choices) {
  rule.choices = choices;
  return rule;
}

KeyRule also(KeyRule rule, std::string_view alias) {
  rule.alias = alias;
  return rule;
}

constexpr std::string_view kData = "which data is fed";
constexpr std::string_view kLog = "what is logged";
constexpr std::string_view kSaving = "how checkpoints are saved and loaded";
constexpr std::string_view kTypes =
    "torch.float16|fp16|float16|half|torch.float32|fp32|float32|float|torch.bfloat16|bf16|bfloat16";

}  // namespace

const KeyTable& deepspeed_keys() {
  static const KeyTable table = {
      from(read("train_batch_size", KeyType::whole, {}, "rows of an optimizer step over all ranks"),
           1, kUint32),
      from(
          read("train_micro_batch_size_per_gpu", KeyType::whole, {}, "rows of a rank's micro-step"),
          1, kUint32),
      from(read("gradient_accumulation_steps", KeyType::whole, {},
                "micro-steps of an optimizer step"),
           1, 1e6),
      from(option("gradient_clipping", KeyType::number, "0", "training.clip_norm"), 0, 1e38),
      {.key = "zero_optimization", .type = KeyType::any, .use = Use::parts},
      block("optimizer"),
      block("fp16"),
      also(block("bf16"), "bfloat16"),
      block("data_types"),
      block("activation_checkpointing"),
      block("amp"),
      block("torch_autocast"),
      block("elasticity"),
      block("expert_parallel"),
      block("compile"),
      block("tensor_parallel"),
      of(option("communication_data_type", KeyType::text, {}, "training.reduce_precision"),
         "fp16|bf16|fp32"),
      from(refused("sequence_parallel_size", KeyType::whole, "1",
                   "sequence parallelism is not modelled"),
           1),
      note("seq_parallel_communication_data_type",
           "of sequence parallelism, whose ranks share rows: they hold shards as here, but not "
           "batches"),
      none("prescale_gradients", "whether gradients are divided before or after they are summed",
           KeyType::boolean),
      none("gradient_predivide_factor", "how gradients are divided in two steps", KeyType::number),
      none("gradient_allreduce_op", "whether gradients are averaged or summed"),
      note("sparse_gradients", "gradients of embeddings travel dense here"),
      note("disable_allgather", "removed from DeepSpeed's stages"),
      none("fp32_allreduce",
           "no longer a key of DeepSpeed's, which ignores it; communication_data_type is"),
      none("managed_gradient_accumulation", "who counts micro-steps"),
      none("scheduler", "the learning rate's schedule"),
      none("zero_allow_untested_optimizer", "a permission"),
      none("zero_force_ds_cpu_optimizer", "which Adam is used with offloading"),
      none("allgather_size", "ignored; of a deprecated format"),
      none("steps_per_print", kLog),
      note("wall_clock_breakdown", "timers that wait for the device where phases meet",
           KeyType::boolean),
      none("memory_breakdown", kLog),
      none("dump_state", kLog),
      none("log_level", kLog),
      none("comms_logger", kLog),
      none("monitor_config", kLog),
      none("tensorboard", kLog),
      none("wandb", kLog),
      none("csv_monitor", kLog),
      none("comet", kLog),
      none("flops_profiler", kLog),
      none("timers", kLog),
      none("autotuning", "the search for a configuration"),
      none("checkpoint", kSaving),
      none("nebula", kSaving),
      none("datastates_ckpt", kSaving),
      none("aio", "how NVMe is read; nothing is offloaded to it here"),
      none("dataloader_drop_last", kData),
      none("curriculum_learning", kData),
      none("data_efficiency", kData),
      none("vocabulary_size", "a warning if it is not aligned"),
      none("use_data_before_expert_parallelism", "the order of expert-parallel ranks"),
      none("hybrid_engine", "inference between training steps"),
      note("sparse_attention", "attention is dense here"),
      note("progressive_layer_drop", "layers are left out of some steps"),
      note("eigenvalue", "eigenvalues of the loss's curvature are estimated"),
      note("compression_training", "weights are compressed while training"),
      note("quantize_training", "weights are quantized while training"),
      note("weight_quantization", "weights are quantized after training"),
      note("graph_harvesting", "kernels are launched as CUDA graphs"),
      note("pipeline", "options of pipeline parallelism, for models that are split into stages"),
  };
  return table;
}

const KeyTable& deepspeed_zero_keys() {
  static const KeyTable table = {
      from(read("stage", KeyType::whole, "0", "what is sharded"), 0, 3),
      option("overlap_comm", KeyType::boolean, {}, "options.overlap", kZero),
      from(option("reduce_bucket_size", KeyType::whole, "500000000", "options.bucket_elements"), 0),
      option("contiguous_gradients", KeyType::boolean, "true", "options.contiguous_gradients",
             kZero),
      option("reduce_scatter", KeyType::boolean, "true", "options.reduce_scatter", kStage3),
      {.key = "use_multi_rank_bucket_allreduce",
       .type = KeyType::boolean,
       .default_value = "true",
       .use = Use::read,
       .meaning = "gradients are all-reduced bucket by bucket",
       .stages = kStages1And2},
      stage3_option("prefetch_bucket_size", "stage3_prefetch_bucket_size", "50000000",
                    "options.prefetch_elements"),
      stage3_option("param_persistence_threshold", "stage3_param_persistence_threshold", "100000",
                    "options.persistence_threshold"),
      stage3_option("max_live_parameters", "stage3_max_live_parameters", "1000000000",
                    "options.max_live_parameters"),
      stage3_option("max_reuse_distance", "stage3_max_reuse_distance", "1000000000",
                    "options.max_reuse_distance"),
      from(
          option("sub_group_size", KeyType::whole, "1000000000", "options.sub_group_size", kStage3),
          0),
      from(also(note("model_persistence_threshold",
                     "at most so many elements stay whole: the limit is not modelled",
                     KeyType::whole, kStage3),
                "stage3_model_persistence_threshold"),
           0),
      block("offload_optimizer"),
      block("offload_param"),
      {.key = "cpu_offload",
       .type = KeyType::boolean,
       .use = Use::read,
       .meaning = "deprecated: offload_optimizer { device: cpu }",
       .stages = kZero},
      {.key = "cpu_offload_param",
       .type = KeyType::boolean,
       .use = Use::read,
       .meaning = "deprecated: offload_param { device: cpu }",
       .stages = kStage3},
      none("cpu_offload_use_pin_memory", "deprecated: pin_memory of offload_optimizer"),
      refused("zero_quantized_weights", KeyType::boolean, "false",
              "ZeRO++'s quantized all_gather is not modelled"),
      refused("zero_quantized_nontrainable_weights", KeyType::boolean, "false",
              "quantized frozen weights are not modelled"),
      refused("zero_quantized_gradients", KeyType::boolean, "false",
              "ZeRO++'s quantized all-to-all of gradients is not modelled"),
      from({.key = "zero_hpz_partition_size",
            .type = KeyType::whole,
            .use = Use::read,
            .meaning = "no secondary partition of the parameters",
            .stages = kStage3},
           0),
      note("zeropp_loco_param", "of ZeRO++'s quantized gradients"),
      from({.key = "mics_shard_size",
            .type = KeyType::whole,
            .use = Use::read,
            .meaning = "no groups of shards (MiCS)",
            .stages = kStage3},
           -1),
      none("mics_hierarchical_params_gather", "of MiCS"),
      refused("zenflow", KeyType::block, {}, "ZenFlow's split optimizer is not modelled"),
      {.key = "use_all_reduce_for_fetch_params",
       .type = KeyType::boolean,
       .use = Use::read,
       .meaning = "parameters are gathered by all_gather",
       .alias = "stage3_use_all_reduce_for_fetch_params",
       .stages = kStage3},
      also(note("allgather_sequential", "tensors are gathered one by one", KeyType::boolean,
                kStage3),
           "stage3_allgather_sequential"),
      also(note("module_granularity_threshold", "small modules are gathered as a whole",
                KeyType::whole, kStage3),
           "stage3_module_granularity_threshold"),
      note("leaf_module", "modules that are gathered as a whole", KeyType::any, kStage3),
      none("allgather_partitions", "recent versions gather whatever it says", KeyType::boolean),
      from(none("allgather_bucket_size", "ignored where torch gathers into one tensor",
                KeyType::whole),
           0),
      none("round_robin_gradients", "which rank owns which gradient: the same bytes",
           KeyType::boolean),
      none("load_from_fp32_weights", kSaving, KeyType::boolean),
      none("elastic_checkpoint", kSaving, KeyType::boolean),
      none("pipeline_loading_checkpoint", kSaving, KeyType::boolean),
      also(none("gather_16bit_weights_on_model_save", kSaving, KeyType::boolean),
           "stage3_gather_16bit_weights_on_model_save"),
      none("stage3_gather_fp16_weights_on_model_save", kSaving, KeyType::boolean),
      none("ignore_unused_parameters", "whether unused parameters are an error", KeyType::boolean),
      none("legacy_stage1", "ignored: the old stage 1 is gone", KeyType::boolean),
      none("memory_efficient_linear", "how a linear layer keeps its input", KeyType::boolean),
      none("override_module_apply", "how modules are initialized", KeyType::boolean),
      none("log_trace_cache_warnings", kLog, KeyType::boolean),
      none("enable_sanity_checks", "checks", KeyType::boolean),
      none("save_muon_momentum_buffer_in_memory", "of Muon with NVMe", KeyType::boolean),
  };
  return table;
}

const KeyTable& deepspeed_offload_optimizer_keys() {
  static const KeyTable table = {
      {.key = "device",
       .type = KeyType::text,
       .default_value = "none",
       .use = Use::read,
       .meaning = "where master weights and moments are kept and updated",
       .choices = "none|cpu|nvme",
       .stages = kZero},
      from(refused("ratio", KeyType::number, "1.0",
                   "an optimizer offloaded in part is not modelled"),
           0, 1),
      refused("super_offload", KeyType::boolean, "false", "SuperOffload is not modelled"),
      none("pin_memory", "host memory that is not paged", KeyType::boolean),
      none("nvme_path", "of NVMe"),
      none("buffer_count", "of NVMe", KeyType::whole),
      none("pipeline_read", "of NVMe", KeyType::boolean),
      none("pipeline_write", "of NVMe", KeyType::boolean),
      none("fast_init", "of NVMe", KeyType::boolean),
      note("cpuadam_cores_perc", "cores of the host that run Adam", KeyType::number),
  };
  return table;
}

const KeyTable& deepspeed_offload_param_keys() {
  static const KeyTable table = {
      {.key = "device",
       .type = KeyType::text,
       .default_value = "none",
       .use = Use::read,
       .meaning = "where shards of parameters are kept",
       .choices = "none|cpu|nvme",
       .stages = kStage3},
      none("pin_memory", "host memory that is not paged", KeyType::boolean),
      none("nvme_path", "of NVMe"),
      none("buffer_count", "of NVMe", KeyType::whole),
      none("buffer_size", "of NVMe", KeyType::whole),
      none("max_in_cpu", "of NVMe", KeyType::whole),
  };
  return table;
}

const KeyTable& deepspeed_fp16_keys() {
  static const KeyTable table = {
      read("enabled", KeyType::boolean, "false", "training.precision: FP16"),
      none("auto_cast", "inputs are cast", KeyType::boolean),
      from(read("loss_scale", KeyType::number, "0", "0: dynamic"), 0, 1e37),
      from(read("initial_scale_power", KeyType::whole, "16", "the first dynamic scale is 2^this"),
           0, 120),
      from(read("loss_scale_window", KeyType::whole, "1000", "good steps until the scale doubles"),
           1, 1e6),
      from(read("hysteresis", KeyType::whole, "2", "overflows until the scale halves"), 1, 1e6),
      from(read("min_loss_scale", KeyType::whole, "1", "the least dynamic scale"), 0, 1e13),
      note("consecutive_hysteresis", "hysteresis is refilled by each good step", KeyType::boolean),
      refused("fp16_master_weights_and_grads", KeyType::boolean, "false",
              "fp16 master weights are not modelled: states take fewer bytes"),
  };
  return table;
}

const KeyTable& deepspeed_bf16_keys() {
  static const KeyTable table = {
      read("enabled", KeyType::boolean, "false", "training.precision: BF16"),
      note("immediate_grad_update", "when gradients are added to their fp32 copies",
           KeyType::boolean),
      none("check_grad_overflow", "whether steps whose gradients overflow are skipped",
           KeyType::boolean),
      refused("bf16_master_weights_and_grads", KeyType::boolean, "false",
              "bf16 master weights are not modelled: states take fewer bytes"),
      refused("bf16_optimizer_states", KeyType::boolean, "false",
              "bf16 moments are not modelled: states take fewer bytes"),
  };
  return table;
}

const KeyTable& deepspeed_optimizer_keys() {
  static const KeyTable table = {
      read("type", KeyType::text, {}, {}),
      block("params"),
      none("legacy_fusion", "how the update is launched"),
  };
  return table;
}

const KeyTable& deepspeed_adam_keys() {
  static const KeyTable table = {
      option("lr", KeyType::number, {}, "training.optimizer.learning_rate"),
      {.key = "betas",
       .type = KeyType::any,
       .use = Use::read,
       .meaning = "training.optimizer.beta1 and beta2"},
      option("eps", KeyType::number, {}, "training.optimizer.epsilon"),
      option("weight_decay", KeyType::number, {}, "training.optimizer.weight_decay"),
      read("adam_w_mode", KeyType::boolean, "true", "true: decoupled weight decay, AdamW"),
      none("torch_adam", "which implementation", KeyType::boolean),
      none("fused", "which implementation", KeyType::boolean),
      {.key = "bias_correction",
       .type = KeyType::boolean,
       .default_value = "true",
       .use = Use::note,
       .meaning = "Adam without bias correction is computed with it"},
      refused("amsgrad", KeyType::boolean, "false", "AMSGrad's third state is not modelled"),
      refused("max_grad_norm", KeyType::number, {},
              "DeepSpeed refuses it; gradient_clipping at the top is its key"),
      refused("fp32_optimizer_states", KeyType::boolean, "true",
              "moments of 16 bits are not modelled"),
      none("set_grad_none", "how gradients are cleared", KeyType::boolean),
      none("foreach", "which implementation", KeyType::boolean),
      none("capturable", "which implementation", KeyType::boolean),
      none("differentiable", "which implementation", KeyType::boolean),
      none("maximize", "the direction of the update", KeyType::boolean),
      note("eps_inside_sqrt", "where epsilon is added", KeyType::boolean),
      note("max_coeff", "Lamb's trust ratio"),
      note("min_coeff", "Lamb's trust ratio"),
  };
  return table;
}

const KeyTable& deepspeed_data_type_keys() {
  static const KeyTable table = {
      of(read("grad_accum_dtype", KeyType::text, {}, "the type gradients are accumulated in"),
         kTypes),
      of(read("param_dtype", KeyType::text, {}, "that of fp16 or bf16, or DeepSpeed refuses it"),
         kTypes),
      note("buffer_dtype", "the type of a model's buffers"),
  };
  return table;
}

const KeyTable& deepspeed_activation_checkpointing_keys() {
  static const KeyTable table = {
      none("partition_activations", "over model-parallel ranks, of which there is one",
           KeyType::boolean),
      refused("cpu_checkpointing", KeyType::boolean, "false",
              "activations offloaded to the CPU are not modelled"),
      none("contiguous_memory_optimization", "where checkpointed inputs lie", KeyType::boolean),
      none("number_checkpoints",
           "how the model's code checkpoints; plan has rows with and without"),
      none("synchronize_checkpoint_boundary", "waits of the host", KeyType::boolean),
      none("profile", kLog, KeyType::boolean),
  };
  return table;
}

const KeyTable& deepspeed_compile_keys() {
  static const KeyTable table = {
      read("deepcompile", KeyType::boolean, "false", "the compiler's own schedule of collectives"),
      note("backend", "how kernels are compiled"),
      note("disable", "how kernels are compiled"),
      note("kwargs", "how kernels are compiled"),
  };
  return table;
}

const KeyTable& deepspeed_tensor_parallel_keys() {
  static const KeyTable table = {
      from(refused("autotp_size", KeyType::whole, "1", "tensor parallelism is not modelled"), 0),
  };
  return table;
}

}  // namespace shardscope
