// What a training run is, apart from the model and the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/nn/adam.h"
#include "core/tensor/buffer.h"
#include "core/tensor/dtype.h"

namespace shardscope {

/// Dynamic loss scaling. What is not given is the default of the strategy's framework
/// (loss_scaler.h).
struct DynamicLossScale {
  std::optional<double> initial;
  std::optional<std::int64_t> growth_interval;  ///< Good steps until the scale doubles.
  std::optional<std::int64_t> hysteresis;       ///< Overflows until it halves.
  std::optional<double> minimum;
};

struct TrainingOptions {
  std::size_t steps = 20;

  /// Rows of a step over all ranks and micro-steps; each rank takes an equal, contiguous part.
  /// Ranks x micro_batches divide it.
  std::size_t global_batch = 64;

  /// Micro-steps of an optimizer step: gradients are accumulated over them.
  std::size_t micro_batches = 1;

  /// Type of parameters, gradients and activations. A half type keeps fp32 master weights.
  DType precision = DType::fp32;

  /// Keep and accumulate gradients in fp32, whatever the precision.
  bool fp32_gradient_accumulation = false;

  /// Type of gradients on the wire, of each add of a reduction and of the division by N after it.
  DType reduce_precision = DType::fp32;

  /// Multiplies the loss's gradient, divides the averaged gradient. Static unless
  /// dynamic_loss_scale is given.
  double loss_scale = 1.0;
  std::optional<DynamicLossScale> dynamic_loss_scale;

  /// Largest global L2 norm of the gradient; larger ones are scaled down to it. 0: no clipping.
  double clip_norm = 0;

  /// Keep only the inputs of every so many layers and compute the rest again in backward. 0: keep
  /// all.
  std::size_t activation_checkpointing = 0;

  /// The optimizer's states, gradients that are sharded, and the update itself are the host's,
  /// where the optimizer is sharded (ZeRO-Offload, arXiv 2101.06840). Needs a half precision.
  bool optimizer_on_host = false;

  AdamOptions optimizer;

  Storage storage = Storage::real;

  /// Type of the gradients that are kept until the update.
  DType accumulate_precision() const {
    return fp32_gradient_accumulation ? DType::fp32 : precision;
  }

  bool has_master_weights() const { return precision != DType::fp32; }
};

}  // namespace shardscope
