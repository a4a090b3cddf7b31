#include "sim/topology_files/nccl_nvlinks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/topology_files/nccl_tables.h"

namespace shardscope {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // Parts, from and to.

class NvlinkReader {
 public:
  NvlinkReader(NcclXml& xml, NcclDraft& draft) : xml_(xml), draft_(draft) {}

  void connect() {
    for (const NcclDraft::Device& device : draft_.devices) {
      part_of_bus_[device.bus] = device.part;
      names_[device.part] = device.name;
    }
    for (const NcclDraft::Device& device : draft_.devices) {
      for (const pugi::xml_node child : NcclXml::elements(device.gpu)) {
        const std::string_view name = child.name();
        if (name == "nvlink") {
          read_nvlink(device, child);
        } else if (name == "c2c") {
          read_c2c(device, child);
        } else {
          xml_.leave_aside(child);
        }
      }
    }
    add_nvswitch();
    add_mesh();
  }

 private:
  void read_nvlink(const NcclDraft::Device& device, pugi::xml_node link) {
    xml_.leave_attributes_aside(link, {"target", "count", "tclass"});
    const std::string target_class = link.attribute("tclass").value();
    const long count = xml_.integer(link, "count", 1, 1000, kNoNumber);
    if (link.attribute("count").empty() || target_class.empty()) {
      xml_.faults().add(xml_.line(link), "nvlink of " + device.name, "needs count and tclass");
      return;
    }
    const std::optional<double> one = link_bandwidth_of(device);
    const double bandwidth = static_cast<double>(std::max(count, 1L)) * one.value_or(1);
    const PciKind kind = pci_kind(target_class);
    if (kind == PciKind::nvlink_bridge) {
      draft_.add_cable(device.part, device.host, LinkKind::nvlink, bandwidth);
    } else if (kind != PciKind::device) {
      to_nvswitch_[device.part] += bandwidth;
    } else {
      const auto target =
          part_of_bus_.find(bus_number(link.attribute("target").value()).value_or(UINT64_MAX));
      if (target == part_of_bus_.end()) {
        xml_.left_aside().add("nvlink elements to GPUs that are not in the file", 1);
      } else if (target->second == device.part) {
        xml_.faults().add(xml_.line(link), "nvlink of " + device.name, "leads to itself");
      } else {
        mesh_[{device.part, target->second}] += bandwidth;
        mesh_lines_[{device.part, target->second}] = xml_.line(link);
      }
    }
  }

  std::optional<double> link_bandwidth_of(const NcclDraft::Device& device) {
    const long sm = xml_.integer(device.gpu, "sm", 1, 10'000, kNoNumber);
    const std::optional<double> bandwidth = nvlink_bytes_per_s(sm);
    if (!bandwidth.has_value() && without_nvlink_.insert(device.part).second) {
      xml_.faults().add(xml_.line(device.gpu), "gpu of " + device.name + ", sm",
                        sm == kNoNumber ? "is missing" : std::to_string(sm) + " has no NVLinks",
                        "60 or more");
    }
    return bandwidth;
  }

  void read_c2c(const NcclDraft::Device& device, pugi::xml_node link) {
    xml_.leave_attributes_aside(link, {"count", "bw"});
    const long count = xml_.integer(link, "count", 1, 1000, kNoNumber);
    const long megabytes = xml_.integer(link, "bw", 1, 1'000'000'000, kNoNumber);
    if (count == kNoNumber || megabytes == kNoNumber) {
      xml_.faults().add(xml_.line(link), "c2c of " + device.name, "needs count and bw");
      return;
    }
    draft_.add_cable(device.part, device.host, LinkKind::nvlink,
                     static_cast<double>(count) * static_cast<double>(megabytes) * 1e6);
  }

  void add_nvswitch() {
    if (to_nvswitch_.empty()) {
      return;
    }
    draft_.nvswitch = draft_.add_part(NodeKind::bridge);
    for (const auto& [part, bandwidth] : to_nvswitch_) {
      draft_.add_cable(part, *draft_.nvswitch, LinkKind::nvlink, bandwidth);
    }
  }

  void add_mesh() {
    for (const auto& [pair, bandwidth] : mesh_) {
      const auto back = mesh_.find({pair.second, pair.first});
      if (back == mesh_.end() || back->second != bandwidth) {
        xml_.faults().add(mesh_lines_[pair], "nvlink of " + names_.at(pair.first),
                          "has another bandwidth than the way back from " + names_.at(pair.second),
                          "as many links of one kind both ways");
      } else if (pair.first < pair.second) {
        draft_.add_cable(pair.first, pair.second, LinkKind::nvlink, bandwidth);
      }
    }
  }

  NcclXml& xml_;
  NcclDraft& draft_;
  std::map<std::uint64_t, std::size_t> part_of_bus_;
  std::map<std::size_t, std::string> names_;  // Of devices, by part, for faults.
  std::map<std::size_t, double> to_nvswitch_;
  std::map<Pair, double> mesh_;
  std::map<Pair, std::size_t> mesh_lines_;
  std::set<std::size_t> without_nvlink_;
};

}  // namespace

void connect_nvlinks(NcclXml& xml, NcclDraft& draft) { NvlinkReader(xml, draft).connect(); }

}  // namespace shardscope
