#include "sim/topology_files/nccl_draft.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

namespace shardscope {
namespace {

std::string gigabytes(double bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g GB/s", bytes_per_s / 1e9);
  return text;
}

// Sorts by what `number` gives if each has one, once.
template <typename Part, typename Number>
bool sort_by(std::vector<Part>& parts, const Number& number) {
  std::set<long> numbers;
  for (const Part& part : parts) {
    if (number(part) == kNoNumber || !numbers.insert(number(part)).second) {
      return false;
    }
  }
  std::sort(parts.begin(), parts.end(),
            [&](const Part& a, const Part& b) { return number(a) < number(b); });
  return true;
}

// Sorts devices and NICs as well.
NcclNode in_order(NcclDraft& draft, std::string& order_of_devices) {
  order_of_devices =
      sort_by(draft.devices, [](const NcclDraft::Device& device) { return device.rank; })  ? "rank"
      : sort_by(draft.devices, [](const NcclDraft::Device& device) { return device.dev; }) ? "dev"
                                                                                           : "";
  sort_by(draft.nics, [](const NcclDraft::Nic& nic) { return nic.dev; });
  NcclNode node;
  node.devices = draft.devices.size();
  std::vector<std::size_t> place_of(draft.parts.size());
  const auto place = [&](std::size_t part, std::string name) {
    place_of[part] = node.parts.size();
    node.parts.push_back({.name = std::move(name), .kind = draft.parts[part]});
  };
  for (const NcclDraft::Device& device : draft.devices) {
    place(device.part, "device" + std::to_string(&device - draft.devices.data()));
  }
  for (const NcclDraft::Nic& nic : draft.nics) {
    place(nic.part, "nic" + std::to_string(&nic - draft.nics.data()));
    node.nics.push_back(nic.nic);
  }
  if (draft.nvswitch.has_value()) {
    place(*draft.nvswitch, "nvswitch");
  }
  for (const std::size_t& bridge : draft.bridges) {
    place(bridge, "pcie" + std::to_string(&bridge - draft.bridges.data()));
  }
  for (const NcclDraft::Cpu& cpu : draft.cpus) {
    place(cpu.part, "host" + std::to_string(&cpu - draft.cpus.data()));
  }
  for (const NcclNode::Cable& cable : draft.cables) {
    node.cables.push_back({place_of[cable.a], place_of[cable.b], cable.spec});
  }
  const bool has_gpus =
      std::any_of(draft.devices.begin(), draft.devices.end(),
                  [](const NcclDraft::Device& device) { return !device.gpu.empty(); });
  node.needs_nvlinks = draft.devices.size() > 1 && !has_gpus;
  return node;
}

void say_range(const NcclDraft& draft, TopologyNotes& notes, LinkKind kind,
               const std::string& what) {
  double least = 0;
  double most = 0;
  std::size_t count = 0;
  for (const NcclNode::Cable& cable : draft.cables) {
    const double bandwidth = cable.spec.bandwidth_bytes_per_s;
    if (cable.spec.kind == kind && bandwidth != kOnChipBytesPerS) {
      least = count == 0 ? bandwidth : std::min(least, bandwidth);
      most = std::max(most, bandwidth);
      ++count;
    }
  }
  if (count > 0) {
    notes.understood.push_back(what + ": " + counted(count, "cable") + ", " + gigabytes(least) +
                               (least < most ? " to " + gigabytes(most) : "") +
                               " in each direction");
  }
}

void say_nics(const NcclNode& node, TopologyNotes& notes) {
  const auto with_speed = static_cast<std::size_t>(
      std::count_if(node.nics.begin(), node.nics.end(),
                    [](const NcclNode::Nic& nic) { return nic.bandwidth_bytes_per_s > 0; }));
  std::string line = counted(node.nics.size(), "NIC");
  if (with_speed > 0) {
    line += ", " + std::to_string(with_speed) + " with a speed, the first one " +
            gigabytes(node.nics.front().bandwidth_bytes_per_s);
  } else if (!node.nics.empty()) {
    line += "; the file does not say how fast their networks are";
  }
  notes.understood.push_back(line);
}

void say_what_was_understood(const NcclDraft& draft, const NcclNode& node,
                             const std::string& order_of_devices, TopologyNotes& notes) {
  std::vector<std::string>& lines = notes.understood;
  lines.push_back(
      counted(node.devices, "device") +
      (order_of_devices.empty() ? ", in document order" : ", in the order of " + order_of_devices));
  lines.push_back(counted(draft.bridges.size(), "PCIe bridge") + " and " +
                  counted(draft.cpus.size(), "host bridge"));
  if (draft.links_by_default > 0) {
    lines.push_back("PCIe links without a speed or a width, taken as 8 GT/s and 16 lanes: " +
                    std::to_string(draft.links_by_default));
  }
  say_range(draft, notes, LinkKind::pcie, "PCIe links, from link_speed and link_width");
  say_range(draft, notes, LinkKind::socket,
            "links between host bridges, from arch, vendor, familyid, modelid");
  if (std::any_of(draft.cables.begin(), draft.cables.end(), [](const NcclNode::Cable& cable) {
        return cable.spec.kind == LinkKind::nvlink;
      })) {
    say_range(draft, notes, LinkKind::nvlink,
              draft.nvswitch.has_value() ? "NVLinks to an NVSwitch, from count and sm"
                                         : "NVLinks, from count and sm");
  } else {
    lines.push_back(node.needs_nvlinks ? "NVLinks: the file describes those of no device"
                                       : "NVLinks: none");
  }
  say_nics(node, notes);
  lines.push_back("latencies: not in the file, 0 s");
}

}  // namespace

std::size_t NcclDraft::add_part(NodeKind kind) {
  parts.push_back(kind);
  return parts.size() - 1;
}

void NcclDraft::add_cable(std::size_t a, std::size_t b, LinkKind kind,
                          double bandwidth_bytes_per_s) {
  cables.push_back({a, b, {.kind = kind, .bandwidth_bytes_per_s = bandwidth_bytes_per_s}});
}

NcclNode finish(NcclDraft& draft, TopologyNotes& notes) {
  std::string order_of_devices;
  NcclNode node = in_order(draft, order_of_devices);
  say_what_was_understood(draft, node, order_of_devices, notes);
  return node;
}

}  // namespace shardscope
