#include "sim/scenario/catalogue.h"

#include <algorithm>
#include <system_error>

#include "platforms/device.pb.h"
#include "sim/scenario/checks.h"
#include "sim/scenario/message_text.h"
#include "sim/scenario/text_file.h"

namespace shardscope {
namespace {

constexpr const char* kExtension = ".textproto";

void require_all(MessageText& text) {
  for (const char* path :
       {"memory", "peak_flops_fp32", "peak_flops_bf16", "peak_flops_fp16", "memory_bandwidth",
        "compute_efficiency", "memory_efficiency", "launch_overhead"}) {
    if (!text.has(path)) text.report_missing(path, "every field of platforms/device.proto");
  }
}

}  // namespace

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
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(platforms / "devices", error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kExtension) names.push_back(entry->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<DevicePreset> read_device_preset(const std::filesystem::path& platforms,
                                               const std::string& name,
                                               std::vector<Fault>& faults) {
  const std::string file = (platforms / "devices" / (name + kExtension)).string();
  std::optional<std::string> contents = read_text_file(file, faults);
  if (!contents) return std::nullopt;

  catalogue::Device message;
  MessageText text(file, std::move(*contents), {}, message);
  require_all(text);
  const NumberRange efficiency{0, Bound::exclusive, 1, Bound::inclusive};
  DevicePreset preset;
  preset.memory_bytes = check_bytes(text, "memory").value_or(0);
  const auto speed = [&](const char* path) {
    return check_quantity(text, path, Dimension::speed, Zero::refused).value_or(0);
  };
  preset.peak_flops_per_s_fp32 = speed("peak_flops_fp32");
  preset.peak_flops_per_s_bf16 = speed("peak_flops_bf16");
  preset.peak_flops_per_s_fp16 = speed("peak_flops_fp16");
  preset.memory_bandwidth_bytes_per_s =
      check_quantity(text, "memory_bandwidth", Dimension::rate, Zero::refused).value_or(0);
  preset.compute_efficiency = check_number(text, "compute_efficiency", efficiency).value_or(0);
  preset.memory_efficiency = check_number(text, "memory_efficiency", efficiency).value_or(0);
  preset.launch_overhead_s =
      check_quantity(text, "launch_overhead", Dimension::time, Zero::allowed).value_or(0);
  if (!text.has_faults()) return preset;
  const std::vector<Fault> found = text.faults();
  faults.insert(faults.end(), found.begin(), found.end());
  return std::nullopt;
}

}  // namespace shardscope
