#include "sim/cluster/roofline.h"

namespace shardscope {

DeviceSpec scaled(const DeviceSpec& device, double speed) {
  DeviceSpec scaled = device;
  scaled.peak_flops_per_s *= speed;
  scaled.memory_bandwidth_bytes_per_s *= speed;
  scaled.launch_overhead_s /= speed;
  return scaled;
}

KernelTime kernel_time(const DeviceSpec& device, Cost cost) {
  return {.flops_s = cost.flops / (device.peak_flops_per_s * device.compute_efficiency),
          .memory_s = cost.bytes / (device.memory_bandwidth_bytes_per_s * device.memory_efficiency),
          .launch_s = device.launch_overhead_s};
}

}  // namespace shardscope
