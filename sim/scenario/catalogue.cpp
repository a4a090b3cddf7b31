#include "sim/scenario/catalogue.h"

#include "platforms/device.pb.h"
#include "sim/scenario/catalogue_file.h"
#include "sim/scenario/checks.h"
#include "sim/scenario/message_text.h"
#include "sim/text/text_file.h"

namespace shardscope {
double DevicePreset::peak_flops_per_s(DType precision) const {
  switch (precision) {
    case DType::bf16:
      return peak_flops_per_s_bf16;
    case DType::fp16:
      return peak_flops_per_s_fp16;
    default:
      return peak_flops_per_s_fp32;
  }
}

std::vector<std::string> device_preset_names(const std::filesystem::path& platforms) {
  return preset_names(platforms, kDeviceFolder);
}

std::optional<DevicePreset> read_device_preset(const std::filesystem::path& platforms,
                                               const std::string& name,
                                               std::vector<Fault>& faults) {
  const std::string file = preset_path(platforms, kDeviceFolder, name);
  std::optional<std::string> contents = read_text_file(file, faults);
  if (!contents) return std::nullopt;

  catalogue::Device message;
  MessageText text(file, std::move(*contents), {}, message);
  const NumberRange efficiency{0, Bound::exclusive, 1, Bound::inclusive};
  DevicePreset preset;
  preset.memory_bytes = require_bytes(text, "memory").value_or(0);
  const auto speed = [&](const char* path) {
    return require_quantity(text, path, Dimension::speed, Zero::refused).value_or(0);
  };
  preset.peak_flops_per_s_fp32 = speed("peak_flops_fp32");
  preset.peak_flops_per_s_bf16 = speed("peak_flops_bf16");
  preset.peak_flops_per_s_fp16 = speed("peak_flops_fp16");
  preset.memory_bandwidth_bytes_per_s =
      require_quantity(text, "memory_bandwidth", Dimension::rate, Zero::refused).value_or(0);
  preset.compute_efficiency = require_number(text, "compute_efficiency", efficiency).value_or(0);
  preset.memory_efficiency = require_number(text, "memory_efficiency", efficiency).value_or(0);
  preset.launch_overhead_s =
      require_quantity(text, "launch_overhead", Dimension::time, Zero::allowed).value_or(0);
  if (!passes(text, faults)) return std::nullopt;
  return preset;
}

}  // namespace shardscope
