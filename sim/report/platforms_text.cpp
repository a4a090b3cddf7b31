#include "sim/report/platforms_text.h"

#include <vector>

#include "sim/report/format.h"
#include "sim/report/table.h"
#include "sim/scenario/nvlink_pairs.h"

namespace shardscope {
namespace {

constexpr int kDigits = 4;

std::string number(double value) { return trimmed_significant(value, kDigits, kDigits); }

std::string rate(double bytes_per_s) { return format_bytes_per_s(bytes_per_s, kDigits); }

std::string bit_rate(double bytes_per_s) { return format_bits_per_s(bytes_per_s, kDigits); }

std::string gibibytes(const DevicePreset& device) {
  return number(static_cast<double>(device.memory_bytes) / static_cast<double>(1 << 30));
}

Table device_table(const Platforms& platforms) {
  Table table;
  table.add_column("", Align::left);
  for (const char* title : {"memory\nGiB", "bf16\nTflop/s", "fp16\nTflop/s", "fp32\nTflop/s",
                            "memory\nGB/s", "compute\nefficiency", "memory\nefficiency"}) {
    table.add_column(title, Align::right);
  }
  for (const auto& [name, file, device] : platforms.devices) {
    table.add_row({name, gibibytes(device), number(device.peak_flops_per_s_bf16 / 1e12),
                   number(device.peak_flops_per_s_fp16 / 1e12),
                   number(device.peak_flops_per_s_fp32 / 1e12),
                   number(device.memory_bandwidth_bytes_per_s / 1e9),
                   number(device.compute_efficiency), number(device.memory_efficiency)});
  }
  return table;
}

std::string devices_cell(const NodePreset& node) {
  return std::to_string(node.spec.devices) + " x " + node.device;
}

std::string nvlink_cell(const NodeSpec& spec) {
  const std::string bandwidth = rate(spec.nvlink_cable.bandwidth_bytes_per_s);
  switch (spec.nvlink) {
    case NodeSpec::Nvlink::none:
      return "none";
    case NodeSpec::Nvlink::nvswitch:
      return "NVSwitch, " + bandwidth;
    case NodeSpec::Nvlink::mesh:
      return "mesh, " + bandwidth + " a link";
  }
  return "";
}

std::string nics_cell(const NodePreset& node) {
  return node.spec.nics == 0
             ? "none"
             : std::to_string(node.spec.nics) + " x " + bit_rate(node.nic_bandwidth_bytes_per_s);
}

Table node_table(const Platforms& platforms) {
  Table table;
  for (const char* title : {"", "devices", "NVLink", "PCIe", "NICs"}) {
    table.add_column(title, Align::left);
  }
  for (const auto& [name, file, node] : platforms.nodes) {
    const NodeSpec& spec = node.spec;
    table.add_row(
        {name, devices_cell(node), nvlink_cell(spec),
         spec.devices_per_pcie_switch == 0 ? "none" : rate(spec.pcie_cable.bandwidth_bytes_per_s),
         nics_cell(node)});
  }
  return table;
}

Table fabric_table(const Platforms& platforms) {
  Table table;
  table.add_column("", Align::left);
  table.add_column("bandwidth", Align::right);
  table.add_column("latency of a cable", Align::right);
  for (const auto& [name, file, fabric] : platforms.fabrics) {
    table.add_row({name, bit_rate(fabric.bandwidth_bytes_per_s), format_seconds(fabric.latency_s)});
  }
  return table;
}

std::string cable_text(const CableSpec& cable) {
  return rate(cable.bandwidth_bytes_per_s) + ", " + format_seconds(cable.latency_s);
}

void write_nvlink(Page& page, const NodeSpec& spec) {
  if (spec.nvlink == NodeSpec::Nvlink::none) {
    page.entry("NVLink", "none");
    return;
  }
  const bool mesh = spec.nvlink == NodeSpec::Nvlink::mesh;
  page.entry("NVLink", cable_text(spec.nvlink_cable) +
                           (mesh ? " for each link of a mesh" : " from a device to the NVSwitch"));
  if (mesh && spec.nvlink_pairs.empty()) {
    page.entry("links", "one between each two devices");
  } else if (mesh) {
    std::vector<std::string> pairs;
    for (const NvlinkPair& pair : spec.nvlink_pairs) {
      pairs.push_back(format_nvlink_pair(pair));
    }
    page.entry("links", listed(pairs));
  }
}

void write_pcie(Page& page, const NodeSpec& spec) {
  if (spec.devices_per_pcie_switch == 0) {
    page.entry("PCIe", "none");
    return;
  }
  page.entry("PCIe", cable_text(spec.pcie_cable) + " for each link; devices per switch: " +
                         std::to_string(spec.devices_per_pcie_switch) +
                         ", switches per host: " + std::to_string(spec.pcie_switches_per_host));
  if (spec.socket_cable.bandwidth_bytes_per_s > 0) {
    page.entry("sockets", cable_text(spec.socket_cable) + " between hosts");
  }
}

}  // namespace

std::string platforms_text(const Platforms& platforms, bool colour, std::size_t width) {
  Page page(colour, width);
  page.paragraph("Devices", Style::bold);
  page.lines(device_table(platforms).text(width));
  page.section("Nodes", node_table(platforms));
  page.section("Fabrics", fabric_table(platforms));
  page.empty_line();
  page.paragraph(
      "Bandwidths are those of one direction. `shardscope platforms NAME` shows an entry with all "
      "figures and their sources.",
      Style::dim);
  return page.text();
}

void write_entry(Page& page, const PlatformEntry<DevicePreset>& entry) {
  const DevicePreset& device = entry.preset;
  page.paragraph(entry.name + ": a device", Style::bold);
  page.entry("memory", gibibytes(device) + " GiB, " + rate(device.memory_bandwidth_bytes_per_s));
  page.entry("bf16", format_flops_per_s(device.peak_flops_per_s_bf16, kDigits));
  page.entry("fp16", format_flops_per_s(device.peak_flops_per_s_fp16, kDigits));
  page.entry("fp32", format_flops_per_s(device.peak_flops_per_s_fp32, kDigits));
  page.entry("reached", number(device.compute_efficiency) + " of the peak speed, " +
                            number(device.memory_efficiency) + " of the memory's");
  page.entry("launch", format_seconds(device.launch_overhead_s) + " per kernel");
}

void write_entry(Page& page, const PlatformEntry<NodePreset>& entry) {
  const NodeSpec& spec = entry.preset.spec;
  page.paragraph(entry.name + ": a node", Style::bold);
  page.entry("devices", devices_cell(entry.preset));
  write_nvlink(page, spec);
  write_pcie(page, spec);
  page.entry("NICs", nics_cell(entry.preset));
}

void write_entry(Page& page, const PlatformEntry<FabricPreset>& entry) {
  page.paragraph(entry.name + ": a fabric", Style::bold);
  page.entry("cable", bit_rate(entry.preset.bandwidth_bytes_per_s) + ", " +
                          format_seconds(entry.preset.latency_s));
}

}  // namespace shardscope
