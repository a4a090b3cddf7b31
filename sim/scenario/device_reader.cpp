#include "sim/scenario/device_reader.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/scenario/catalogue.h"
#include "sim/scenario/values.h"
#include "sim/text/nearest_name.h"

namespace shardscope {
namespace {

constexpr NumberRange kSlowdowns{1, Bound::inclusive, 1000, Bound::inclusive};
constexpr NumberRange kEfficiencies{0, Bound::exclusive, 1, Bound::inclusive};

class DeviceReader {
 public:
  DeviceReader(MessageText& text, const std::filesystem::path& platforms, DType precision)
      : text_(text), values_(text), platforms_(platforms), precision_(precision) {}

  DeviceSpec read(const std::string& node_device) {
    const char* path = "cluster.device.preset";
    const bool has_preset = text_.has(path) || !node_device.empty();
    if (has_preset) apply_preset(text_.has(path) ? text_.string(path) : node_device);
    const auto is_given = [&](const std::string& field, Dimension dimension) {
      if (text_.has(field)) return true;
      const bool may_be_known =
          text_.is_refused("cluster.node.preset") || text_.is_refused("cluster.file");
      if (!has_preset && !may_be_known) {
        text_.report_missing(field, describe(dimension) + ", or a device preset");
      }
      return false;
    };
    if (is_given("cluster.device.memory", Dimension::size)) {
      device_.memory_bytes = check_bytes(text_, "cluster.device.memory").value_or(0);
    }
    if (is_given("cluster.device.peak_flops", Dimension::speed)) {
      device_.peak_flops_per_s =
          values_.quantity("cluster.device.peak_flops", Dimension::speed, Zero::refused);
    }
    if (is_given("cluster.device.memory_bandwidth", Dimension::rate)) {
      device_.memory_bandwidth_bytes_per_s =
          values_.quantity("cluster.device.memory_bandwidth", Dimension::rate, Zero::refused);
    }
    if (text_.has("cluster.device.compute_efficiency")) {
      device_.compute_efficiency =
          values_.number("cluster.device.compute_efficiency", kEfficiencies);
    }
    if (text_.has("cluster.device.memory_efficiency")) {
      device_.memory_efficiency = values_.number("cluster.device.memory_efficiency", kEfficiencies);
    }
    if (text_.has("cluster.device.launch_overhead")) {
      device_.launch_overhead_s =
          values_.quantity("cluster.device.launch_overhead", Dimension::time, Zero::allowed);
    }
    device_.communication_slowdown =
        values_.number("cluster.device.communication_slowdown", kSlowdowns);
    return device_;
  }

 private:
  void apply_preset(const std::string& name) {
    const char* path = "cluster.device.preset";
    const std::vector<std::string> names = device_preset_names(platforms_);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string allowed =
          names.empty() ? "no presets found in " + platforms_.string() : one_of(names);
      text_.refuse(path, "is not in the catalogue", allowed, nearest_name(name, names));
      return;
    }
    std::vector<Fault> faults;
    const std::optional<DevicePreset> preset = read_device_preset(platforms_, name, faults);
    if (!preset) {
      for (const Fault& fault : faults) text_.refuse(path, "is wrong: " + format_fault(fault), {});
      return;
    }
    device_ = {name,
               preset->memory_bytes,
               preset->peak_flops_per_s(precision_),
               preset->memory_bandwidth_bytes_per_s,
               preset->compute_efficiency,
               preset->memory_efficiency,
               preset->launch_overhead_s,
               /*communication_slowdown=*/1};
  }

  MessageText& text_;
  Values values_;
  const std::filesystem::path& platforms_;
  DType precision_;
  DeviceSpec device_;
};

}  // namespace

DeviceSpec read_device(MessageText& text, const std::filesystem::path& platforms, DType precision,
                       const std::string& node_device) {
  return DeviceReader(text, platforms, precision).read(node_device);
}

}  // namespace shardscope
