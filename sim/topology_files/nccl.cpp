#include "sim/topology_files/nccl.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text/printable.h"
#include "sim/topology_files/nccl_tables.h"

namespace shardscope {
namespace {

constexpr double kOnChip = 5000e9;  // NCCL's LOC_BW, of what is in one chip.
constexpr std::size_t kMostParts = 10'000;
constexpr std::size_t kMostCpus = 256;
constexpr long kNoNumber = -1;

enum class PciKind { device, nic, bridge, nvswitch, cpu };

PciKind pci_kind(std::string_view pci_class) {
  if (pci_class.starts_with("0x068001")) return PciKind::cpu;
  if (pci_class.starts_with("0x0680")) return PciKind::nvswitch;
  if (pci_class.starts_with("0x03")) return PciKind::device;
  if (pci_class.starts_with("0x02")) return PciKind::nic;
  return PciKind::bridge;
}

// "0000:10:1c.0" as one number, so that ways of writing it are equal.
std::optional<std::uint64_t> bus_number(std::string text) {
  std::erase_if(text, [](char c) { return c == ':' || c == '.'; });
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::string gigabytes(double bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g GB/s", bytes_per_s / 1e9);
  return text;
}

class Reader {
 public:
  Reader(const XmlFile& file, FaultList& faults, TopologyNotes& notes)
      : file_(file), faults_(faults), notes_(notes) {}

  std::optional<NcclNode> read() {
    leave_attributes_aside(file_.root(), {"version"});
    for (const pugi::xml_node child : elements(file_.root())) {
      if (std::string_view(child.name()) == "cpu") {
        read_cpu(child);
      } else {
        leave_element_aside(child);
      }
    }
    if (hosts_.size() > 1) {
      faults_.add(0, "host_hash", "are " + std::to_string(hosts_.size()) + " different ones",
                  "one host in a file");
    }
    if (devices_.empty() && faults_.empty()) {
      faults_.add(0, {}, "has no GPU", "pci elements of class 0x03...");
    }
    if (parts_.size() > kMostParts || cpus_.size() > kMostCpus) {
      faults_.add(0, {},
                  "has " + counted(parts_.size(), "part") + ", " +
                      counted(cpus_.size(), "cpu element") + " among them",
                  "at most " + std::to_string(kMostParts) + " and " + std::to_string(kMostCpus));
      return std::nullopt;
    }
    connect_sockets();
    connect_nvlinks();
    if (!faults_.empty()) {
      return std::nullopt;
    }
    NcclNode node = in_order();
    say_what_was_understood(node);
    return node;
  }

 private:
  struct Device {
    std::size_t part = 0;
    std::size_t host = 0;  // The part it is below.
    std::uint64_t bus = 0;
    pugi::xml_node gpu;  // May be empty.
    std::size_t line = 0;
    std::string name;  // For faults.
    long rank = kNoNumber;
    long dev = kNoNumber;
  };
  struct Nic {
    std::size_t part = 0;
    NcclNode::Nic nic;
    long dev = kNoNumber;
  };
  struct Cpu {
    std::size_t part = 0;
    pugi::xml_node element;
  };
  // Where an element is.
  struct Above {
    std::size_t part = 0;
    std::size_t host = 0;
  };

  static std::vector<pugi::xml_node> elements(pugi::xml_node parent) {
    std::vector<pugi::xml_node> all;
    for (const pugi::xml_node child : parent.children()) {
      if (child.type() == pugi::node_element) {
        all.push_back(child);
      }
    }
    return all;
  }

  void leave_element_aside(pugi::xml_node element) {
    left_aside_.add("element", element.name(), "<" + shown(element.parent().name()) + ">");
  }

  void leave_attributes_aside(pugi::xml_node element, const std::set<std::string_view>& known) {
    for (const pugi::xml_attribute attribute : element.attributes()) {
      if (!known.contains(attribute.name())) {
        left_aside_.add("attribute", attribute.name(), "<" + shown(element.name()) + ">");
      }
    }
  }

  std::size_t add_part(NodeKind kind) {
    parts_.push_back({.name = {}, .kind = kind});
    return parts_.size() - 1;
  }

  void add_cable(std::size_t a, std::size_t b, LinkKind kind, double bandwidth) {
    cables_.push_back({a, b, {.kind = kind, .bandwidth_bytes_per_s = bandwidth}});
  }

  // An attribute that is a whole number from `least` to `most`; `otherwise` if it is not there.
  long integer(pugi::xml_node element, const char* name, long least, long most, long otherwise) {
    const pugi::xml_attribute attribute = element.attribute(name);
    if (attribute.empty()) {
      return otherwise;
    }
    const std::string_view text = attribute.value();
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
      faults_.add(file_.line(element), std::string(element.name()) + ", " + name,
                  quoted(text) + " is not allowed",
                  "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
      return otherwise;
    }
    return value;
  }

  void read_cpu(pugi::xml_node cpu) {
    hosts_.insert(cpu.attribute("host_hash").value());
    if (const std::string numa = cpu.attribute("numaid").value(); !numa_ids_.insert(numa).second) {
      faults_.add(file_.line(cpu), "cpu, numaid", quoted(numa) + " is taken twice");
    }
    leave_attributes_aside(cpu, {"numaid", "arch", "vendor", "familyid", "modelid", "host_hash"});
    const std::size_t part = add_part(NodeKind::bridge);
    cpus_.push_back({part, cpu});
    for (const pugi::xml_node child : elements(cpu)) {
      const std::string_view name = child.name();
      if (name == "pci") {
        read_pci(child, {.part = part, .host = part});
      } else if (name == "nic") {
        read_nic(child, part, kOnChip);
      } else {
        leave_element_aside(child);
      }
    }
  }

  void read_pci(pugi::xml_node pci, const Above& above) {
    const std::string bus_id = pci.attribute("busid").value();
    const std::string name = "pci " + quoted(bus_id);
    const std::optional<std::uint64_t> bus = bus_number(bus_id);
    if (!bus.has_value()) {
      faults_.add(file_.line(pci), name + ", busid", "is no PCI bus id",
                  "one such as \"0000:10:1c.0\"");
    } else if (!buses_.insert(*bus).second) {
      faults_.add(file_.line(pci), name + ", busid", "is taken twice");
    }
    leave_attributes_aside(pci, {"busid", "class", "link_speed", "link_width"});
    const std::string pci_class = pci.attribute("class").value();
    const bool has_gpu = !pci.child("gpu").empty();
    const bool has_nic = !pci.child("nic").empty();
    if (pci_class.empty() && !has_gpu && !has_nic) {
      faults_.add(file_.line(pci), name + ", class", "is missing, and nothing else says what it is",
                  "one such as \"0x030200\" (GPU), \"0x020000\" (NIC), \"0x060400\" (switch); "
                  "NCCL_TOPO_DUMP_FILE writes it");
      return;
    }
    const PciKind kind = has_gpu ? PciKind::device : has_nic ? PciKind::nic : pci_kind(pci_class);
    if (kind == PciKind::nvswitch || kind == PciKind::cpu) {
      left_aside_.add("pci elements of NVSwitches and NVLink bridges", 1);
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
    links_by_default_ += no_speed || no_width ? 1 : 0;
    const std::optional<double> lane = pcie_lane_bytes_per_s(no_speed ? "8 GT/s" : speed);
    if (!lane.has_value()) {
      faults_.add(file_.line(pci), name + ", link_speed", quoted(speed) + " is unknown",
                  "2.5, 5, 8, 16, 32 or 64 GT/s");
    }
    static const std::set<std::string> widths = {"1", "2", "4", "8", "12", "16", "32"};
    if (!no_width && !widths.contains(width)) {
      faults_.add(file_.line(pci), name + ", link_width", quoted(width) + " is not allowed",
                  "1, 2, 4, 8, 12, 16 or 32 lanes");
      return 1;
    }
    return lane.value_or(1) * (no_width ? 16 : std::stod(width));
  }

  void read_bridge(pugi::xml_node pci, const Above& above, double bandwidth) {
    const std::size_t part = add_part(NodeKind::bridge);
    bridges_.push_back(part);
    add_cable(part, above.part, LinkKind::pcie, bandwidth);
    for (const pugi::xml_node child : elements(pci)) {
      if (std::string_view(child.name()) == "pci") {
        read_pci(child, {.part = part, .host = above.host});
      } else {
        leave_element_aside(child);
      }
    }
  }

  void read_device(pugi::xml_node pci, const std::string& name, std::uint64_t bus,
                   const Above& above, double bandwidth) {
    Device device{.part = add_part(NodeKind::device),
                  .host = above.host,
                  .bus = bus,
                  .gpu = pci.child("gpu"),
                  .line = file_.line(pci),
                  .name = name};
    add_cable(device.part, above.part, LinkKind::pcie, bandwidth);
    for (const pugi::xml_node child : elements(pci)) {
      if (child != device.gpu) {
        leave_element_aside(child);
      }
    }
    if (!device.gpu.empty()) {
      leave_attributes_aside(device.gpu, {"rank", "dev", "sm"});
      device.rank = integer(device.gpu, "rank", -1, 1'000'000, kNoNumber);
      device.dev = integer(device.gpu, "dev", -1, 1'000'000, kNoNumber);
    }
    devices_.push_back(std::move(device));
  }

  void read_nics_of(pugi::xml_node pci, const Above& above, double bandwidth) {
    const pugi::xml_node nic = pci.child("nic");
    for (const pugi::xml_node child : elements(pci)) {
      if (child != nic) {
        leave_element_aside(child);
      }
    }
    if (nic.empty()) {
      add_nic(above.part, bandwidth, {}, kNoNumber);
    } else if (net_count(nic) == 1) {
      read_nic(nic, above.part, bandwidth);
    } else if (net_count(nic) > 1) {
      const std::size_t part = add_part(NodeKind::bridge);
      bridges_.push_back(part);
      add_cable(part, above.part, LinkKind::pcie, bandwidth);
      read_nic(nic, part, bandwidth);
    } else {
      leave_element_aside(nic);
    }
  }

  // As in NCCL, a net without dev or with net="0" is no port to send through.
  static bool is_port(pugi::xml_node net) {
    return std::string_view(net.name()) == "net" && !net.attribute("dev").empty() &&
           std::string_view(net.attribute("net").as_string("1")) != "0";
  }

  static std::size_t net_count(pugi::xml_node nic) {
    const std::vector<pugi::xml_node> all = elements(nic);
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_port));
  }

  void read_nic(pugi::xml_node nic, std::size_t above, double bandwidth) {
    leave_attributes_aside(nic, {});
    for (const pugi::xml_node net : elements(nic)) {
      if (!is_port(net)) {
        leave_element_aside(net);
        continue;
      }
      leave_attributes_aside(net, {"dev", "speed", "port", "net"});
      const long speed = integer(net, "speed", -1, 1'000'000'000, kNoNumber);
      const NcclNode::Nic ports = {
          .bandwidth_bytes_per_s = speed <= 0 ? 0 : static_cast<double>(speed) * 1e6 / 8,
          .port = integer(net, "port", 0, 1'000'000, 0)};
      add_nic(above, bandwidth, ports, integer(net, "dev", 0, 1'000'000, kNoNumber));
    }
  }

  void add_nic(std::size_t above, double bandwidth, const NcclNode::Nic& nic, long dev) {
    const std::size_t part = add_part(NodeKind::nic);
    add_cable(part, above, LinkKind::pcie, bandwidth);
    nics_.push_back({part, nic, dev});
  }

  void connect_sockets() {
    std::vector<double> bandwidths;
    for (std::size_t i = 0; cpus_.size() > 1 && i < cpus_.size(); ++i) {
      const pugi::xml_node cpu = cpus_[i].element;
      const CpuModel model = {.arch = cpu.attribute("arch").value(),
                              .vendor = cpu.attribute("vendor").value(),
                              .family = integer(cpu, "familyid", 0, 1'000'000, 0),
                              .model = integer(cpu, "modelid", 0, 1'000'000, 0)};
      const std::optional<double> bandwidth = socket_bytes_per_s(model);
      if (!bandwidth.has_value()) {
        faults_.add(file_.line(cpu), "cpu, arch and vendor",
                    quoted(model.arch) + " and " + quoted(model.vendor) +
                        " say nothing about the link between sockets",
                    "x86_64 of GenuineIntel, AuthenticAMD or CentaurHauls; arm64; ppc64");
      }
      bandwidths.push_back(bandwidth.value_or(1));
    }
    for (std::size_t a = 0; a < bandwidths.size(); ++a) {
      for (std::size_t b = a + 1; b < bandwidths.size(); ++b) {
        add_cable(cpus_[a].part, cpus_[b].part, LinkKind::socket,
                  std::min(bandwidths[a], bandwidths[b]));
      }
    }
  }

  void connect_nvlinks() {
    for (const Device& device : devices_) {
      part_of_bus_[device.bus] = device.part;
      device_names_[device.part] = device.name;
    }
    for (const Device& device : devices_) {
      for (const pugi::xml_node child : elements(device.gpu)) {
        const std::string_view name = child.name();
        if (name == "nvlink") {
          read_nvlink(device, child);
        } else if (name == "c2c") {
          read_c2c(device, child);
        } else {
          leave_element_aside(child);
        }
      }
    }
    add_nvswitch();
    add_mesh();
  }

  void read_nvlink(const Device& device, pugi::xml_node link) {
    leave_attributes_aside(link, {"target", "count", "tclass"});
    const std::string target_class = link.attribute("tclass").value();
    const long count = integer(link, "count", 1, 1000, kNoNumber);
    if (link.attribute("count").empty() || target_class.empty()) {
      faults_.add(file_.line(link), "nvlink of " + device.name, "needs count and tclass");
      return;
    }
    const std::optional<double> one = link_bandwidth_of(device);
    const double bandwidth = static_cast<double>(std::max(count, 1L)) * one.value_or(1);
    const PciKind kind = pci_kind(target_class);
    if (kind == PciKind::cpu) {
      add_cable(device.part, device.host, LinkKind::nvlink, bandwidth);
    } else if (kind != PciKind::device) {
      to_nvswitch_[device.part] += bandwidth;
    } else {
      const auto target =
          part_of_bus_.find(bus_number(link.attribute("target").value()).value_or(UINT64_MAX));
      if (target == part_of_bus_.end()) {
        left_aside_.add("nvlink elements to GPUs that are not in the file", 1);
      } else if (target->second == device.part) {
        faults_.add(file_.line(link), "nvlink of " + device.name, "leads to itself");
      } else {
        mesh_[{device.part, target->second}] += bandwidth;
        mesh_lines_[{device.part, target->second}] = file_.line(link);
      }
    }
  }

  std::optional<double> link_bandwidth_of(const Device& device) {
    const long sm = integer(device.gpu, "sm", 1, 10'000, kNoNumber);
    const std::optional<double> bandwidth = nvlink_bytes_per_s(sm);
    if (!bandwidth.has_value() && without_nvlink_.insert(device.part).second) {
      faults_.add(file_.line(device.gpu), "gpu of " + device.name + ", sm",
                  sm == kNoNumber ? "is missing" : std::to_string(sm) + " has no NVLinks",
                  "60 or more");
    }
    return bandwidth;
  }

  void read_c2c(const Device& device, pugi::xml_node link) {
    leave_attributes_aside(link, {"count", "bw"});
    const long count = integer(link, "count", 1, 1000, kNoNumber);
    const long megabytes = integer(link, "bw", 1, 1'000'000'000, kNoNumber);
    if (count == kNoNumber || megabytes == kNoNumber) {
      faults_.add(file_.line(link), "c2c of " + device.name, "needs count and bw");
      return;
    }
    add_cable(device.part, device.host, LinkKind::nvlink,
              static_cast<double>(count) * static_cast<double>(megabytes) * 1e6);
  }

  void add_nvswitch() {
    if (to_nvswitch_.empty()) {
      return;
    }
    nvswitch_ = add_part(NodeKind::bridge);
    for (const auto& [part, bandwidth] : to_nvswitch_) {
      add_cable(part, *nvswitch_, LinkKind::nvlink, bandwidth);
    }
  }

  void add_mesh() {
    for (const auto& [pair, bandwidth] : mesh_) {
      const auto back = mesh_.find({pair.second, pair.first});
      if (back == mesh_.end() || back->second != bandwidth) {
        faults_.add(mesh_lines_[pair], "nvlink of " + device_names_.at(pair.first),
                    "has another bandwidth than the way back from " + device_names_.at(pair.second),
                    "as many links of one kind both ways");
      } else if (pair.first < pair.second) {
        add_cable(pair.first, pair.second, LinkKind::nvlink, bandwidth);
      }
    }
  }

  // Sorts by what `number` gives if each has one, once.
  template <typename Part, typename Number>
  static bool sort_by(std::vector<Part>& parts, const Number& number) {
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

  NcclNode in_order() {
    order_of_devices_ = sort_by(devices_, [](const Device& device) { return device.rank; }) ? "rank"
                        : sort_by(devices_, [](const Device& device) { return device.dev; }) ? "dev"
                                                                                             : "";
    sort_by(nics_, [](const Nic& nic) { return nic.dev; });
    NcclNode node;
    node.devices = devices_.size();
    place_of_.resize(parts_.size());
    for (const Device& device : devices_) {
      place(node, device.part, "device" + std::to_string(&device - devices_.data()));
    }
    for (const Nic& nic : nics_) {
      place(node, nic.part, "nic" + std::to_string(&nic - nics_.data()));
      node.nics.push_back(nic.nic);
    }
    if (nvswitch_.has_value()) {
      place(node, *nvswitch_, "nvswitch");
    }
    for (const std::size_t& bridge : bridges_) {
      place(node, bridge, "pcie" + std::to_string(&bridge - bridges_.data()));
    }
    for (const Cpu& cpu : cpus_) {
      place(node, cpu.part, "host" + std::to_string(&cpu - cpus_.data()));
    }
    for (const NcclNode::Cable& cable : cables_) {
      node.cables.push_back({place_of_[cable.a], place_of_[cable.b], cable.spec});
    }
    const bool has_gpus = std::any_of(devices_.begin(), devices_.end(),
                                      [](const Device& device) { return !device.gpu.empty(); });
    node.needs_nvlinks = devices_.size() > 1 && !has_gpus;
    return node;
  }

  void place(NcclNode& node, std::size_t part, std::string name) {
    place_of_[part] = node.parts.size();
    node.parts.push_back({.name = std::move(name), .kind = parts_[part].kind});
  }

  void say_what_was_understood(const NcclNode& node) {
    std::vector<std::string>& lines = notes_.understood;
    lines.push_back(counted(node.devices, "device") +
                    (order_of_devices_.empty() ? ", in document order"
                                               : ", in the order of " + order_of_devices_));
    lines.push_back(counted(bridges_.size(), "PCIe bridge") + " and " +
                    counted(cpus_.size(), "host bridge"));
    if (links_by_default_ > 0) {
      lines.push_back("PCIe links without a speed or a width, taken as 8 GT/s and 16 lanes: " +
                      std::to_string(links_by_default_));
    }
    say_range(LinkKind::pcie, "PCIe links, from link_speed and link_width");
    say_range(LinkKind::socket, "links between host bridges, from arch, vendor, familyid, modelid");
    if (std::any_of(cables_.begin(), cables_.end(), [](const NcclNode::Cable& cable) {
          return cable.spec.kind == LinkKind::nvlink;
        })) {
      say_range(LinkKind::nvlink, nvswitch_.has_value()
                                      ? "NVLinks to an NVSwitch, from count and sm"
                                      : "NVLinks, from count and sm");
    } else {
      lines.push_back(node.needs_nvlinks ? "NVLinks: the file describes those of no device"
                                         : "NVLinks: none");
    }
    say_nics(node);
    lines.push_back("latencies: not in the file, 0 s");
    left_aside_.append_to(notes_.left_aside);
  }

  void say_range(LinkKind kind, const std::string& what) {
    double least = 0;
    double most = 0;
    std::size_t count = 0;
    for (const NcclNode::Cable& cable : cables_) {
      const double bandwidth = cable.spec.bandwidth_bytes_per_s;
      if (cable.spec.kind == kind && bandwidth != kOnChip) {
        least = count == 0 ? bandwidth : std::min(least, bandwidth);
        most = std::max(most, bandwidth);
        ++count;
      }
    }
    if (count > 0) {
      notes_.understood.push_back(what + ": " + counted(count, "cable") + ", " + gigabytes(least) +
                                  (least < most ? " to " + gigabytes(most) : "") +
                                  " in each direction");
    }
  }

  void say_nics(const NcclNode& node) {
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
    notes_.understood.push_back(line);
  }

  const XmlFile& file_;
  FaultList& faults_;
  TopologyNotes& notes_;
  NameCounts left_aside_;

  std::vector<NcclNode::Part> parts_;  // In document order; without names.
  std::vector<NcclNode::Cable> cables_;
  std::vector<Device> devices_;
  std::vector<Nic> nics_;
  std::vector<std::size_t> bridges_;
  std::vector<Cpu> cpus_;
  std::optional<std::size_t> nvswitch_;
  std::vector<std::size_t> place_of_;

  std::set<std::string> hosts_;
  std::set<std::string> numa_ids_;
  std::set<std::uint64_t> buses_;
  std::map<std::uint64_t, std::size_t> part_of_bus_;
  std::map<std::size_t, std::string> device_names_;
  std::map<std::size_t, double> to_nvswitch_;
  std::map<std::pair<std::size_t, std::size_t>, double> mesh_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> mesh_lines_;
  std::set<std::size_t> without_nvlink_;
  std::size_t links_by_default_ = 0;
  std::string order_of_devices_;
};

}  // namespace

std::optional<NcclNode> read_nccl(const XmlFile& file, FaultList& faults, TopologyNotes& notes) {
  return Reader(file, faults, notes).read();
}

}  // namespace shardscope
