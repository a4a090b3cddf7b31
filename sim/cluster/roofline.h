// How long a kernel takes on a device: the roofline model (Williams, Waterman, Patterson 2009).
#pragma once

#include "core/nn/cost.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// max(flops / (peak x efficiency), bytes / (memory bandwidth x efficiency)) + launch overhead.
struct KernelTime {
  double flops_s = 0;   ///< What the arithmetic alone would take.
  double memory_s = 0;  ///< What the memory traffic alone would take.
  double launch_s = 0;

  bool is_memory_bound() const { return memory_s > flops_s; }
  double total_s() const { return (is_memory_bound() ? memory_s : flops_s) + launch_s; }
};

/// A device whose kernels take 1 / speed of the time.
DeviceSpec scaled(const DeviceSpec& device, double speed);

KernelTime kernel_time(const DeviceSpec& device, Cost cost);

}  // namespace shardscope
