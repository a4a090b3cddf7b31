// The catalogue of platforms for programs.
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario/platforms.h"

namespace shardscope {

/// In bytes, seconds and their quotients; ends with a newline. What a node lacks is null.
/// {"shardscope",
///  "devices": [{"name", "memory_bytes", "peak_flops_per_s": {"fp32", "bf16", "fp16"},
///               "memory_bandwidth_bytes_per_s", "compute_efficiency", "memory_efficiency",
///               "launch_overhead_s"}],
///  "nodes": [{"name", "device", "devices",
///             "nvlink": {"kind": "nvswitch" or "mesh", "bandwidth_bytes_per_s", "latency_s",
///                        "pairs": [{"a", "b", "links"}] of a mesh},
///             "pcie": {"devices_per_switch", "switches_per_host", "bandwidth_bytes_per_s",
///                      "latency_s", "socket": {"bandwidth_bytes_per_s", "latency_s"}},
///             "nics", "nic_bandwidth_bytes_per_s"}],
///  "fabrics": [{"name", "bandwidth_bytes_per_s", "latency_s"}]}
/// A mesh without pairs has one link between each two devices.
std::string platforms_json(const Platforms& platforms, std::string_view version);

}  // namespace shardscope
