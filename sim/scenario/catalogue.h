// The catalogue of devices: the files of PLATFORMS/devices, in the schema platforms/device.proto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"
#include "sim/text/fault.h"

namespace shardscope {

struct DevicePreset {
  std::uint64_t memory_bytes = 0;
  double peak_flops_per_s_fp32 = 0;
  double peak_flops_per_s_bf16 = 0;
  double peak_flops_per_s_fp16 = 0;
  double memory_bandwidth_bytes_per_s = 0;
  double compute_efficiency = 0;
  double memory_efficiency = 0;
  double launch_overhead_s = 0;

  /// Of products of that floating-point type.
  double peak_flops_per_s(DType precision) const;
};

/// Names of the catalogue's devices, sorted; none if the folder cannot be read.
std::vector<std::string> device_preset_names(const std::filesystem::path& platforms);

/// The device of that name, which must be in the catalogue; nothing and its faults if its file is
/// wrong.
std::optional<DevicePreset> read_device_preset(const std::filesystem::path& platforms,
                                               const std::string& name, std::vector<Fault>& faults);

}  // namespace shardscope
