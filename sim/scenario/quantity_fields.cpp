#include "sim/scenario/quantity_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shardscope {
namespace {

constexpr std::array<std::pair<std::string_view, Dimension>, 16> kQuantities = {{
    {"cluster.device.memory", Dimension::size},
    {"cluster.device.peak_flops", Dimension::speed},
    {"cluster.device.memory_bandwidth", Dimension::rate},
    {"cluster.device.launch_overhead", Dimension::time},
    {"cluster.node.nvlink_bandwidth", Dimension::rate},
    {"cluster.node.nvlink_latency", Dimension::time},
    {"cluster.node.pcie_bandwidth", Dimension::rate},
    {"cluster.node.pcie_latency", Dimension::time},
    {"cluster.node.socket_bandwidth", Dimension::rate},
    {"cluster.node.socket_latency", Dimension::time},
    {"cluster.link.bandwidth", Dimension::rate},
    {"cluster.host.link_bandwidth", Dimension::rate},
    {"cluster.link.latency", Dimension::time},
    {"cluster.storage.bandwidth", Dimension::rate},
    {"options.bucket_size", Dimension::size},
    {"options.first_bucket_size", Dimension::size},
}};

}  // namespace

std::optional<Dimension> dimension_of(std::string_view path) {
  const auto* field = std::find_if(kQuantities.begin(), kQuantities.end(),
                                   [&](const auto& quantity) { return quantity.first == path; });
  return field == kQuantities.end() ? std::nullopt : std::optional(field->second);
}

}  // namespace shardscope
