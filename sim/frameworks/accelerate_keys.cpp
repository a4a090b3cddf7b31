#include "sim/frameworks/accelerate_keys.h"

namespace shardscope {
namespace {

constexpr unsigned kVersion1 = 0b0010;

KeyRule none(std::string_view key, std::string_view meaning, std::string_view alias = {}) {
  return {.key = key, .use = Use::none, .meaning = meaning, .alias = alias};
}

KeyRule note(std::string_view key, std::string_view meaning, std::string_view alias = {}) {
  return {.key = key, .use = Use::note, .meaning = meaning, .alias = alias};
}

KeyRule size(std::string_view key, std::string_view alias, Use use, std::string_view meaning) {
  return {.key = key,
          .type = KeyType::whole,
          .default_value = "1",
          .use = use,
          .meaning = meaning,
          .low = 1,
          .high = 1e6,
          .alias = alias};
}

constexpr std::string_view kLaunch = "how processes are started";
constexpr std::string_view kTpu = "of TPUs";
constexpr std::string_view kLoading = "how weights are loaded and saved";

}  // namespace

const KeyTable& accelerate_keys() {
  static const KeyTable table = {
      {.key = "distributed_type", .use = Use::read},
      {.key = "mixed_precision",
       .type = KeyType::text,
       .use = Use::read,
       .choices = "no|fp16|bf16|fp8"},
      {.key = "fp16",
       .type = KeyType::boolean,
       .use = Use::refused,
       .meaning = "of an old format; mixed_precision: fp16 replaces it"},
      {.key = "num_processes",
       .type = KeyType::whole,
       .use = Use::read,
       .meaning = "ranks, on all machines together",
       .low = 1,
       .high = 1e6},
      {.key = "num_machines",
       .type = KeyType::whole,
       .default_value = "1",
       .use = Use::read,
       .meaning = "nodes",
       .low = 1,
       .high = 1e6},
      {.key = "deepspeed_config", .type = KeyType::block, .use = Use::parts},
      {.key = "fsdp_config", .type = KeyType::block, .use = Use::parts},
      {.key = "parallelism_config", .type = KeyType::block, .use = Use::parts},
      {.key = "compute_environment",
       .type = KeyType::text,
       .default_value = "local_machine",
       .use = Use::refused,
       .meaning = "other environments are not modelled",
       .choices = "local_machine|amazon_sagemaker"},
      {.key = "use_cpu",
       .type = KeyType::boolean,
       .default_value = "false",
       .use = Use::refused,
       .meaning = "training on CPUs is not modelled"},
      note("megatron_lm_config", "of Megatron-LM"),
      note("fp8_config", "of fp8"),
      note("dynamo_config", "how kernels are compiled"),
      note("dynamo_backend", "how kernels are compiled"),
      none("downcast_bf16", kTpu),
      none("tpu_name", kTpu),
      none("tpu_zone", kTpu),
      none("tpu_env", kTpu),
      none("tpu_vm", kTpu),
      none("tpu_use_cluster", kTpu),
      none("tpu_use_sudo", kTpu),
      none("command_file", kTpu),
      none("commands", kTpu),
      none("debug", "whether shapes are checked before collectives"),
      none("gpu_ids", kLaunch),
      none("machine_rank", kLaunch),
      none("main_process_ip", kLaunch),
      none("main_process_port", kLaunch),
      none("main_training_function", kLaunch),
      none("rdzv_backend", kLaunch),
      none("same_network", kLaunch),
      none("enable_cpu_affinity", kLaunch),
      none("mpirun_config", kLaunch),
  };
  return table;
}

const KeyTable& accelerate_fsdp_keys() {
  static const KeyTable table = {
      {.key = "version",
       .type = KeyType::whole,
       .default_value = "1",
       .use = Use::read,
       .meaning = "FSDP1 or FSDP2, which send the same",
       .low = 1,
       .high = 2,
       .alias = "fsdp_version"},
      {.key = "sharding_strategy",
       .type = KeyType::text,
       .default_value = "full_shard",
       .use = Use::read,
       .choices = "1|2|3|4|5|full_shard|shard_grad_op|no_shard|hybrid_shard|hybrid_shard_zero2",
       .alias = "fsdp_sharding_strategy",
       .stages = kVersion1},
      {.key = "reshard_after_forward",
       .type = KeyType::any,
       .use = Use::read,
       .alias = "fsdp_reshard_after_forward"},
      {.key = "backward_prefetch",
       .type = KeyType::text,
       .default_value = "backward_pre",
       .use = Use::read,
       .choices = "backward_pre|backward_post|no_prefetch|1|2",
       .alias = "fsdp_backward_prefetch",
       .stages = kVersion1},
      {.key = "forward_prefetch",
       .type = KeyType::boolean,
       .use = Use::none,
       .meaning = "forward gathers run ahead by two either way",
       .alias = "fsdp_forward_prefetch",
       .stages = kVersion1},
      {.key = "offload_params",
       .type = KeyType::boolean,
       .default_value = "false",
       .use = Use::read,
       .meaning = "shards, gradients and the update on the CPU",
       .alias = "fsdp_offload_params"},
      {.key = "activation_checkpointing",
       .type = KeyType::boolean,
       .default_value = "false",
       .use = Use::read,
       .meaning = "activations are computed again in backward",
       .alias = "fsdp_activation_checkpointing"},
      {.key = "auto_wrap_policy",
       .type = KeyType::text,
       .use = Use::note,
       .meaning = "what is gathered as a unit: here each block of a transformer, each linear layer "
                  "of a perceptron",
       .choices = "transformer_based_wrap|size_based_wrap|no_wrap",
       .alias = "fsdp_auto_wrap_policy"},
      {.key = "min_num_params",
       .type = KeyType::whole,
       .use = Use::note,
       .meaning = "the least unit of SIZE_BASED_WRAP: here each block or linear layer is one",
       .alias = "fsdp_min_num_params"},
      none("transformer_layer_cls_to_wrap", "the unit of TRANSFORMER_BASED_WRAP",
           "fsdp_transformer_layer_cls_to_wrap"),
      note("ignored_modules", "modules that FSDP leaves whole", "fsdp_ignored_modules"),
      none("state_dict_type", kLoading, "fsdp_state_dict_type"),
      {.key = "cpu_ram_efficient_loading",
       .type = KeyType::boolean,
       .use = Use::none,
       .meaning = kLoading,
       .alias = "fsdp_cpu_ram_efficient_loading"},
      {.key = "sync_module_states",
       .type = KeyType::boolean,
       .default_value = "true",
       .use = Use::none,
       .meaning = kLoading,
       .alias = "fsdp_sync_module_states",
       .stages = kVersion1},
      {.key = "use_orig_params",
       .type = KeyType::boolean,
       .use = Use::none,
       .meaning = "how the optimizer sees parameters",
       .alias = "fsdp_use_orig_params",
       .stages = kVersion1},
  };
  return table;
}

const KeyTable& accelerate_deepspeed_keys() {
  static const KeyTable table = {
      {.key = "deepspeed_config_file",
       .type = KeyType::text,
       .use = Use::read,
       .meaning = "DeepSpeed's own configuration"},
      {.key = "zero_stage",
       .type = KeyType::whole,
       .default_value = "2",
       .use = Use::read,
       .low = 0,
       .high = 3},
      {.key = "gradient_accumulation_steps",
       .type = KeyType::whole,
       .default_value = "1",
       .use = Use::read,
       .meaning = "micro-steps of an optimizer step",
       .low = 1,
       .high = 1e6},
      {.key = "gradient_clipping",
       .type = KeyType::number,
       .use = Use::read,
       .meaning = "training.clip_norm",
       .low = 0,
       .high = 1e38},
      {.key = "offload_optimizer_device",
       .type = KeyType::text,
       .default_value = "none",
       .use = Use::read,
       .meaning = "where master weights and moments are kept and updated",
       .choices = "none|cpu|nvme"},
      {.key = "offload_param_device",
       .type = KeyType::text,
       .default_value = "none",
       .use = Use::read,
       .meaning = "where shards of parameters are kept, at stage 3",
       .choices = "none|cpu|nvme"},
      none("offload_optimizer_nvme_path", "of NVMe"),
      none("offload_param_nvme_path", "of NVMe"),
      {.key = "zero3_save_16bit_model",
       .type = KeyType::boolean,
       .use = Use::none,
       .meaning = kLoading},
      none("zero3_init_flag", kLoading),
      none("deepspeed_moe_layer_cls_names", "modules that are gathered as a whole"),
      none("deepspeed_hostfile", kLaunch),
      none("deepspeed_multinode_launcher", kLaunch),
      none("deepspeed_exclusion_filter", kLaunch),
      none("deepspeed_inclusion_filter", kLaunch),
  };
  return table;
}

const KeyTable& accelerate_parallelism_keys() {
  static const KeyTable table = {
      size("dp_replicate_size", "parallelism_config_dp_replicate_size", Use::read,
           "copies of the sharded model"),
      size("dp_shard_size", "parallelism_config_dp_shard_size", Use::read,
           "ranks that share a copy"),
      size("tp_size", "parallelism_config_tp_size", Use::refused,
           "tensor parallelism is not modelled"),
      size("cp_size", "parallelism_config_cp_size", Use::refused,
           "context parallelism is not modelled: these ranks are no data-parallel ones"),
      size("sp_size", "parallelism_config_sp_size", Use::refused,
           "sequence parallelism is not modelled: these ranks are no data-parallel ones"),
      none("cp_backend", "of context parallelism", "parallelism_config_cp_backend"),
      none("cp_comm_strategy", "of context parallelism", "parallelism_config_cp_comm_strategy"),
      none("sp_backend", "of sequence parallelism", "parallelism_config_sp_backend"),
      none("sp_seq_length", "of sequence parallelism", "parallelism_config_sp_seq_length"),
      none("sp_seq_length_is_variable", "of sequence parallelism",
           "parallelism_config_sp_seq_length_is_variable"),
      none("sp_attn_implementation", "of sequence parallelism",
           "parallelism_config_sp_attn_implementation"),
  };
  return table;
}

const std::vector<DistributedType>& distributed_types() {
  static const std::vector<DistributedType> types = {
      {.name = "no", .strategy = "DDP"},
      {.name = "multi_gpu", .strategy = "TORCH_DDP"},
      {.name = "multi_npu", .strategy = "TORCH_DDP"},
      {.name = "multi_xpu", .strategy = "TORCH_DDP"},
      {.name = "multi_mlu", .strategy = "TORCH_DDP"},
      {.name = "multi_musa", .strategy = "TORCH_DDP"},
      {.name = "multi_sdaa", .strategy = "TORCH_DDP"},
      {.name = "multi_hpu", .strategy = "TORCH_DDP"},
      {.name = "multi_neuron", .strategy = "TORCH_DDP"},
      {.name = "fsdp", .strategy = "FSDP"},
      {.name = "deepspeed", .strategy = "DEEPSPEED"},
      {.name = "megatron_lm", .refusal = "Megatron-LM's parallelism is not modelled"},
      {.name = "tp", .refusal = "tensor parallelism is not modelled"},
      {.name = "xla", .refusal = "TorchXLA is not modelled"},
      {.name = "multi_cpu", .refusal = "training on CPUs is not modelled"},
  };
  return types;
}

const std::vector<ShardingStrategy>& sharding_strategies() {
  static const std::vector<ShardingStrategy> strategies = {
      {.number = "1", .name = "full_shard", .strategy = "FSDP_FULL_SHARD"},
      {.number = "2", .name = "shard_grad_op", .strategy = "FSDP_SHARD_GRAD_OP"},
      {.number = "3", .name = "no_shard", .strategy = "FSDP_NO_SHARD"},
      {.number = "4", .name = "hybrid_shard", .strategy = "FSDP_HYBRID_SHARD"},
      {.number = "5",
       .name = "hybrid_shard_zero2",
       .strategy = "FSDP_HYBRID_SHARD",
       .keeps_parameters = true},
  };
  return strategies;
}

std::optional<std::string> keep_default(const Setting& /*setting*/) { return std::nullopt; }

}  // namespace shardscope
