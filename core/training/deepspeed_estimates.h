// What DeepSpeed's memory estimators say a device needs for model states
// (estimate_zero2_model_states_mem_needs of deepspeed.runtime.zero.stage_1_and_2 and
// estimate_zero3_model_states_mem_needs of deepspeed.runtime.zero.stage3), in 16-bit training with
// Adam. They are rules of thumb: formulas.h has what is held.
#pragma once

#include <array>
#include <cstdint>

namespace shardscope {

/// A setup that the estimators know. They have none for stage 1; that of offloaded parameters,
/// which are not modelled here, is left out.
struct EstimatedSetup {
  int stage = 2;  ///< 2 or 3.
  bool optimizer_on_host = false;
};

inline constexpr std::array<EstimatedSetup, 4> kEstimatedSetups = {
    {{2, false}, {2, true}, {3, false}, {3, true}}};

/// Bytes of a device, for P parameters on N ranks, of which a module's own are E at most, rounded
/// down:
///   stage 2                        2 P + 18 P/N   18 = 2 gradients + 4 fp32 gradients + 4 master
///                                                 weights + 8 moments (DeepSpeed pull request
///                                                 5099)
///   stage 2, optimizer on the host 2 P
///   stage 3                        4 E + 18 P/N   18 = 2 parameters + 4 fp32 gradients + 4 master
///                                                 weights + 8 moments; 4 E: one gathered layer and
///                                                 its gradients
///   stage 3, optimizer on the host 4 E + 2 P/N
/// `parameters` is at most 1e18.
std::uint64_t deepspeed_estimate_bytes(EstimatedSetup setup, std::uint64_t parameters,
                                       std::uint64_t largest_layer, int world_size);

}  // namespace shardscope
