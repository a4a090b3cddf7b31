// Every key of DeepSpeed's configuration (runtime/config.py, runtime/constants.py,
// runtime/precision_config.py, runtime/zero/config.py and offload_config.py at edaa7221), with its
// default and what it means here.
#pragma once

#include "sim/frameworks/key_table.h"

namespace shardscope {

const KeyTable& deepspeed_keys();
const KeyTable& deepspeed_zero_keys();
const KeyTable& deepspeed_offload_optimizer_keys();
const KeyTable& deepspeed_offload_param_keys();
const KeyTable& deepspeed_fp16_keys();
const KeyTable& deepspeed_bf16_keys();
const KeyTable& deepspeed_optimizer_keys();
/// Those of Adam and of optimizers with the same states.
const KeyTable& deepspeed_adam_keys();
const KeyTable& deepspeed_data_type_keys();
const KeyTable& deepspeed_activation_checkpointing_keys();
const KeyTable& deepspeed_compile_keys();
const KeyTable& deepspeed_tensor_parallel_keys();

}  // namespace shardscope
