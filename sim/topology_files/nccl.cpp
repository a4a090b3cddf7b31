#include "sim/topology_files/nccl.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text/printable.h"
#include "sim/topology_files/nccl_draft.h"
#include "sim/topology_files/nccl_nvlinks.h"
#include "sim/topology_files/nccl_tables.h"
#include "sim/topology_files/nccl_xml.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostParts = 10'000;
constexpr std::size_t kMostCpus = 256;
constexpr double kUnknownSocketBytesPerS = 10e9;  // That of Intel's Skylake (nccl_tables.h).

class Reader {
 public:
  Reader(const XmlFile& file, FaultList& faults, TopologyNotes& notes)
      : xml_(file, faults), notes_(notes) {}

  std::optional<NcclNode> read() {
    xml_.leave_attributes_aside(xml_.root(), {"version"});
    for (const pugi::xml_node child : NcclXml::elements(xml_.root())) {
      if (std::string_view(child.name()) == "cpu") {
        read_cpu(child);
      } else {
        xml_.leave_aside(child);
      }
    }
    if (hosts_.size() > 1) {
      xml_.faults().add(0, "host_hash", "are " + std::to_string(hosts_.size()) + " different ones",
                        "one host in a file");
    }
    if (draft_.devices.empty() && xml_.faults().empty()) {
      xml_.faults().add(0, {}, "has no GPU", "pci elements of class 0x03...");
    }
    if (draft_.parts.size() > kMostParts || draft_.cpus.size() > kMostCpus) {
      xml_.faults().add(
          0, {},
          "has " + counted(draft_.parts.size(), "part") + ", " +
              counted(draft_.cpus.size(), "cpu element") + " among them",
          "at most " + std::to_string(kMostParts) + " and " + std::to_string(kMostCpus));
      return std::nullopt;
    }
    connect_sockets();
    connect_nvlinks(xml_, draft_);
    if (!xml_.faults().empty()) {
      return std::nullopt;
    }
    xml_.left_aside().append_to(notes_.left_aside);
    if (nameless_ > 0) {
      notes_.understood.push_back(counted(nameless_, "pci element") +
                                  " without a class and with nothing inside: devices");
    }
    if (nameless_cpus_ > 0) {
      notes_.understood.push_back(counted(nameless_cpus_, "cpu element") +
                                  " without arch: links between sockets of 10 GB/s assumed");
    }
    return finish(draft_, notes_);
  }

 private:
  // Where an element is.
  struct Above {
    std::size_t part = 0;
    std::size_t host = 0;
  };

  void read_cpu(pugi::xml_node cpu) {
    hosts_.insert(cpu.attribute("host_hash").value());
    if (const std::string numa = cpu.attribute("numaid").value(); !numa_ids_.insert(numa).second) {
      xml_.faults().add(xml_.line(cpu), "cpu, numaid", quoted(numa) + " is taken twice");
    }
    xml_.leave_attributes_aside(cpu,
                                {"numaid", "arch", "vendor", "familyid", "modelid", "host_hash"});
    const std::size_t part = draft_.add_part(NodeKind::bridge);
    draft_.cpus.push_back({part, cpu});
    for (const pugi::xml_node child : NcclXml::elements(cpu)) {
      const std::string_view name = child.name();
      if (name == "pci") {
        read_pci(child, {.part = part, .host = part});
      } else if (name == "nic") {
        read_nic(child, part, kOnChipBytesPerS);
      } else {
        xml_.leave_aside(child);
      }
    }
  }

  void read_pci(pugi::xml_node pci, const Above& above) {
    const std::string bus_id = pci.attribute("busid").value();
    const std::string name = "pci " + quoted(bus_id);
    const std::optional<std::uint64_t> bus = bus_number(bus_id);
    if (!bus.has_value()) {
      xml_.faults().add(xml_.line(pci), name + ", busid", "is no PCI bus id",
                        "one such as \"0000:10:1c.0\"");
    } else if (!buses_.insert(*bus).second) {
      xml_.faults().add(xml_.line(pci), name + ", busid", "is taken twice");
    }
    xml_.leave_attributes_aside(pci, {"busid", "class", "link_speed", "link_width"});
    const std::string pci_class = pci.attribute("class").value();
    const bool has_gpu = !pci.child("gpu").empty();
    const bool has_nic = !pci.child("nic").empty();
    const bool is_nameless = pci_class.empty() && !has_gpu && !has_nic;
    if (is_nameless && !NcclXml::elements(pci).empty()) {
      xml_.faults().add(
          xml_.line(pci), name + ", class", "is missing, and nothing else says what it is",
          "one such as \"0x030200\" (GPU), \"0x020000\" (NIC), \"0x060400\" (switch); "
          "NCCL_TOPO_DUMP_FILE writes it");
      return;
    }
    // Files written by hand leave classes to be found on the machine.
    nameless_ += is_nameless ? 1 : 0;
    const PciKind kind = has_gpu || is_nameless ? PciKind::device
                         : has_nic              ? PciKind::nic
                                                : pci_kind(pci_class);
    if (kind == PciKind::nvswitch || kind == PciKind::nvlink_bridge) {
      xml_.left_aside().add("pci elements of NVSwitches and NVLink bridges", 1);
      return;
    }
    const double bandwidth = link_bandwidth(pci, name);
    if (kind == PciKind::device) {
      read_device(pci, name, bus.value_or(0), above, bandwidth);
    } else if (kind == PciKind::nic) {
      read_nics_of(pci, above, bandwidth);
    } else {
      read_bridge(pci, above, bandwidth);
    }
  }

  double link_bandwidth(pugi::xml_node pci, const std::string& name) {
    const std::string speed = pci.attribute("link_speed").value();
    const std::string width = pci.attribute("link_width").value();
    const bool no_speed = speed.empty() || speed.starts_with("Unknown");
    const bool no_width = width.empty() || width == "0";
    draft_.links_by_default += no_speed || no_width ? 1 : 0;
    const std::optional<double> lane = pcie_lane_bytes_per_s(no_speed ? "8 GT/s" : speed);
    if (!lane.has_value()) {
      xml_.faults().add(xml_.line(pci), name + ", link_speed", quoted(speed) + " is unknown",
                        "2.5, 5, 8, 16, 32 or 64 GT/s");
    }
    static const std::set<std::string> widths = {"1", "2", "4", "8", "12", "16", "32"};
    if (!no_width && !widths.contains(width)) {
      xml_.faults().add(xml_.line(pci), name + ", link_width", quoted(width) + " is not allowed",
                        "1, 2, 4, 8, 12, 16 or 32 lanes");
      return 1;
    }
    return lane.value_or(1) * (no_width ? 16 : std::stod(width));
  }

  void read_bridge(pugi::xml_node pci, const Above& above, double bandwidth) {
    const std::size_t part = draft_.add_part(NodeKind::bridge);
    draft_.bridges.push_back(part);
    draft_.add_cable(part, above.part, LinkKind::pcie, bandwidth);
    for (const pugi::xml_node child : NcclXml::elements(pci)) {
      if (std::string_view(child.name()) == "pci") {
        read_pci(child, {.part = part, .host = above.host});
      } else {
        xml_.leave_aside(child);
      }
    }
  }

  void read_device(pugi::xml_node pci, const std::string& name, std::uint64_t bus,
                   const Above& above, double bandwidth) {
    NcclDraft::Device device{.part = draft_.add_part(NodeKind::device),
                             .host = above.host,
                             .bus = bus,
                             .gpu = pci.child("gpu"),
                             .name = name};
    draft_.add_cable(device.part, above.part, LinkKind::pcie, bandwidth);
    for (const pugi::xml_node child : NcclXml::elements(pci)) {
      if (child != device.gpu) {
        xml_.leave_aside(child);
      }
    }
    if (!device.gpu.empty()) {
      xml_.leave_attributes_aside(device.gpu, {"rank", "dev", "sm"});
      device.rank = xml_.integer(device.gpu, "rank", -1, 1'000'000, kNoNumber);
      device.dev = xml_.integer(device.gpu, "dev", -1, 1'000'000, kNoNumber);
    }
    draft_.devices.push_back(std::move(device));
  }

  void read_nics_of(pugi::xml_node pci, const Above& above, double bandwidth) {
    const pugi::xml_node nic = pci.child("nic");
    for (const pugi::xml_node child : NcclXml::elements(pci)) {
      if (child != nic) {
        xml_.leave_aside(child);
      }
    }
    if (nic.empty()) {
      add_nic(above.part, bandwidth, {}, kNoNumber);
    } else if (net_count(nic) == 1) {
      read_nic(nic, above.part, bandwidth);
    } else if (net_count(nic) > 1) {
      const std::size_t part = draft_.add_part(NodeKind::bridge);
      draft_.bridges.push_back(part);
      draft_.add_cable(part, above.part, LinkKind::pcie, bandwidth);
      read_nic(nic, part, bandwidth);
    } else {
      xml_.leave_aside(nic);
    }
  }

  // As in NCCL, a net without dev or with net="0" is no port to send through.
  static bool is_port(pugi::xml_node net) {
    return std::string_view(net.name()) == "net" && !net.attribute("dev").empty() &&
           std::string_view(net.attribute("net").as_string("1")) != "0";
  }

  static std::size_t net_count(pugi::xml_node nic) {
    const std::vector<pugi::xml_node> all = NcclXml::elements(nic);
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_port));
  }

  void read_nic(pugi::xml_node nic, std::size_t above, double bandwidth) {
    xml_.leave_attributes_aside(nic, {});
    for (const pugi::xml_node net : NcclXml::elements(nic)) {
      if (!is_port(net)) {
        xml_.leave_aside(net);
        continue;
      }
      xml_.leave_attributes_aside(net, {"dev", "speed", "port", "net"});
      const long speed = xml_.integer(net, "speed", -1, 1'000'000'000, kNoNumber);
      const NcclNode::Nic ports = {
          .bandwidth_bytes_per_s = speed <= 0 ? 0 : static_cast<double>(speed) * 1e6 / 8,
          .port = xml_.integer(net, "port", 0, 1'000'000, 0)};
      add_nic(above, bandwidth, ports, xml_.integer(net, "dev", 0, 1'000'000, kNoNumber));
    }
  }

  void add_nic(std::size_t above, double bandwidth, const NcclNode::Nic& nic, long dev) {
    const std::size_t part = draft_.add_part(NodeKind::nic);
    draft_.add_cable(part, above, LinkKind::pcie, bandwidth);
    draft_.nics.push_back({part, nic, dev});
  }

  void connect_sockets() {
    std::vector<double> bandwidths;
    for (std::size_t i = 0; draft_.cpus.size() > 1 && i < draft_.cpus.size(); ++i) {
      const pugi::xml_node cpu = draft_.cpus[i].element;
      if (cpu.attribute("arch").empty()) {  // The same of CPUs.
        ++nameless_cpus_;
        bandwidths.push_back(kUnknownSocketBytesPerS);
        continue;
      }
      const CpuModel model = {.arch = cpu.attribute("arch").value(),
                              .vendor = cpu.attribute("vendor").value(),
                              .family = xml_.integer(cpu, "familyid", 0, 1'000'000, 0),
                              .model = xml_.integer(cpu, "modelid", 0, 1'000'000, 0)};
      const std::optional<double> bandwidth = socket_bytes_per_s(model);
      if (!bandwidth.has_value()) {
        xml_.faults().add(xml_.line(cpu), "cpu, arch and vendor",
                          quoted(model.arch) + " and " + quoted(model.vendor) +
                              " say nothing about the link between sockets",
                          "x86_64 of GenuineIntel, AuthenticAMD or CentaurHauls; arm64; ppc64");
      }
      bandwidths.push_back(bandwidth.value_or(1));
    }
    for (std::size_t a = 0; a < bandwidths.size(); ++a) {
      for (std::size_t b = a + 1; b < bandwidths.size(); ++b) {
        draft_.add_cable(draft_.cpus[a].part, draft_.cpus[b].part, LinkKind::socket,
                         std::min(bandwidths[a], bandwidths[b]));
      }
    }
  }

  NcclXml xml_;
  TopologyNotes& notes_;
  NcclDraft draft_;
  std::set<std::string> hosts_;
  std::set<std::string> numa_ids_;
  std::set<std::uint64_t> buses_;
  std::size_t nameless_ = 0;
  std::size_t nameless_cpus_ = 0;
};

}  // namespace

std::optional<NcclNode> read_nccl(const XmlFile& file, FaultList& faults, TopologyNotes& notes) {
  return Reader(file, faults, notes).read();
}

}  // namespace shardscope
