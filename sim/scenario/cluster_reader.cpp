#include "sim/scenario/cluster_reader.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/scenario/cluster_file_reader.h"
#include "sim/scenario/fabric_catalogue.h"
#include "sim/scenario/node_catalogue.h"
#include "sim/scenario/values.h"
#include "sim/text/nearest_name.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

constexpr WholeRange kNodes{1, 65536};
constexpr WholeRange kParts{1, 1024};
constexpr WholeRange kPartsOrNone{0, 1024};
constexpr WholeRange kSwitches{1, 65536};
constexpr WholeRange kSwitchesOrNone{0, 65536};
constexpr WholeRange kPods{2, 256};
constexpr WholeRange kChannels{1, 64};
constexpr NumberRange kOversubscriptions{0, Bound::exclusive, 1000, Bound::inclusive};

FabricKind fabric_kind(const std::string& text) {
  for (const FabricKind kind :
       {FabricKind::ring, FabricKind::fully_connected, FabricKind::leaf_spine, FabricKind::fat_tree,
        FabricKind::rails, FabricKind::torus}) {
    if (text == name(kind)) return kind;
  }
  return FabricKind::star;
}

Fidelity fidelity_of(const std::string& text) {
  for (const Fidelity fidelity : {Fidelity::flow, Fidelity::automatic}) {
    if (text == name(fidelity)) return fidelity;
  }
  return Fidelity::message;
}

class ClusterReader {
 public:
  ClusterReader(MessageText& text, const ClusterFolders& folders, int world_size)
      : text_(text),
        values_(text),
        platforms_(folders.platforms),
        file_(folders.file),
        world_size_(static_cast<std::size_t>(world_size)) {}

  ReadCluster read() {
    std::optional<TopologyFile> file;
    if (text_.has("cluster.file")) {
      file = read_cluster_file(text_, file_, read_.cluster);
      if (!file) return std::move(read_);
    }
    if (file && file->kind != FileKind::nccl) {
      read_whole(*file);
    } else if (file) {
      read_nccl(*file);
    } else {
      refuse_hosts();
      read_node();
      read_.cluster.devices_per_node = spec().node.has_value() ? spec().node->devices : 1;
      read_nodes();
      read_fabric();
      build();
    }
    if (read_.cluster.devices_per_node > 0) read_placement();
    read_collective();
    return std::move(read_);
  }

 private:
  ClusterSpec& spec() { return read_.cluster.spec; }

  // Nothing in a plain star can be refused that the fields' own ranges allow.
  void build() {
    if (text_.has_faults() || is_plain_star(spec())) return;
    Topology topology;
    refuse_topology(build_cluster(spec(), topology));
  }

  void refuse_topology(const std::vector<std::string>& faults) {
    for (const std::string& fault : faults) {
      const char* path = fault.starts_with("a node")   ? "cluster.node"
                         : text_.has("cluster.fabric") ? "cluster.fabric"
                                                       : "cluster";
      text_.refuse_combination(path, fault, {});
    }
  }

  void refuse_hosts() {
    if (text_.count("cluster.hosts") > 0) {
      text_.refuse_combination("cluster.hosts", "are of no file",
                               "with a SimGrid platform in cluster.file");
    }
  }

  // A file that describes the whole cluster.
  void read_whole(const TopologyFile& file) {
    for (const char* path : {"cluster.node", "cluster.fabric", "cluster.link", "cluster.nodes"}) {
      if (text_.has(path)) {
        text_.refuse_combination(path, "is not allowed",
                                 "either this or a cluster.file of the whole cluster");
      }
    }
    Cluster& cluster = read_.cluster;
    if (file.kind == FileKind::simgrid) {
      read_platform_hosts(text_, file_, static_cast<int>(world_size_), cluster);
      if (text_.has("cluster.device.communication_slowdown")) {
        text_.refuse_combination("cluster.device.communication_slowdown", "is not allowed",
                                 "no SimGrid platform, whose hosts have speeds of their own");
      }
      spec().nodes = cluster.platform ? cluster.platform->hosts.size() : world_size_;
      return;
    }
    refuse_hosts();
    cluster.read = std::make_shared<const Topology>(file.topology);
    spec().nodes = file.topology.devices().size();
    if (spec().nodes < world_size_) {
      text_.refuse_combination("cluster.file",
                               "has " + std::to_string(spec().nodes) + " devices for " +
                                   std::to_string(world_size_) + " ranks",
                               "at least as many devices as cluster.world_size");
      spec().nodes = world_size_;
    }
  }

  // A file that describes a node, of which the fabric joins several.
  void read_nccl(TopologyFile& file) {
    refuse_hosts();
    for (const char* path :
         {"cluster.node.devices", "cluster.node.nvlink", "cluster.node.nvlink_bandwidth",
          "cluster.node.nvlink_latency", "cluster.node.devices_per_pcie_switch",
          "cluster.node.pcie_switches_per_host", "cluster.node.pcie_bandwidth",
          "cluster.node.pcie_latency", "cluster.node.socket_bandwidth",
          "cluster.node.socket_latency", "cluster.node.nics"}) {
      if (text_.has(path)) {
        text_.refuse_combination(path, "is not allowed",
                                 "nothing in node but a preset, beside an NCCL topology");
      }
    }
    NcclNode& node = *file.nccl_node;
    complete_nccl_node(text_, platforms_, node, read_.cluster);
    read_.cluster.devices_per_node = node.devices;
    for (const NcclNode::Nic& nic : node.nics) {
      nic_bandwidth_bytes_per_s_ =
          nic_bandwidth_bytes_per_s_ == 0
              ? nic.bandwidth_bytes_per_s
              : std::min(nic_bandwidth_bytes_per_s_, nic.bandwidth_bytes_per_s);
    }
    read_nodes();
    is_nccl_ = true;
    read_fabric();
    if (text_.has_faults()) return;
    Topology topology;
    NodeEndpoints ends;
    std::vector<std::string> faults = add_nccl_nodes(topology, spec().nodes, node, ends);
    if (faults.empty() && spec().fabric.has_value()) {
      faults = add_fabric(topology, *spec().fabric, ends.nics, node.nics.size());
    }
    refuse_topology(faults.empty() ? topology.check() : faults);
    read_.cluster.read = std::make_shared<const Topology>(std::move(topology));
  }

  void read_collective() {
    CollectiveSpec& collective = read_.cluster.collective;
    collective.algorithm = find_algorithm(text_.enumerator("cluster.collective.algorithm"));
    collective.channels = static_cast<int>(values_.whole("cluster.collective.channels", kChannels));
    collective.fidelity = fidelity_of(text_.enumerator("cluster.collective.fidelity"));
    if (collective.channels > 1 && collective.algorithm != Algorithm::ring &&
        collective.algorithm.has_value()) {
      text_.refuse_combination("cluster.collective.channels", "concerns another algorithm",
                               "with algorithm RING or AUTO");
    }
    if (text_.has_faults()) return;
    if (const auto problem = why_not_hierarchical(read_.cluster)) {
      text_.refuse_combination("cluster.collective.algorithm", *problem,
                               "another placement or number of ranks");
    }
  }

  void read_node() {
    if (!text_.has("cluster.node")) return;
    NodeSpec& node = spec().node.emplace();
    const bool has_preset = text_.has("cluster.node.preset");
    if (has_preset) apply_node_preset(node);
    if (!has_preset || text_.has("cluster.node.devices")) {
      node.devices =
          static_cast<std::size_t>(values_.required_whole("cluster.node.devices", kParts));
    }
    const std::string nvlink = text_.enumerator("cluster.node.nvlink");
    if (text_.has("cluster.node.nvlink")) {
      node.nvlink = nvlink == "NVSWITCH" ? NodeSpec::Nvlink::nvswitch
                    : nvlink == "MESH"   ? NodeSpec::Nvlink::mesh
                                         : NodeSpec::Nvlink::none;
      node.nvlink_pairs.clear();
    }
    if (node.nvlink != NodeSpec::Nvlink::none) {
      node.nvlink_cable = required_cable("cluster.node.nvlink_bandwidth",
                                         "cluster.node.nvlink_latency", node.nvlink_cable);
    }
    read_pcie(node);
    const std::size_t nics = has_preset ? node.nics : node.devices_per_pcie_switch > 0 ? 1 : 0;
    node.nics = static_cast<std::size_t>(values_.optional_whole("cluster.node.nics", kPartsOrNone)
                                             .value_or(static_cast<std::int64_t>(nics)));
    check_unused();
  }

  // Figures of what the node does not have are read all the same.
  void check_unused() {
    for (const auto& [path, dimension] :
         {std::pair("cluster.node.nvlink_bandwidth", Dimension::rate),
          std::pair("cluster.node.nvlink_latency", Dimension::time),
          std::pair("cluster.node.pcie_bandwidth", Dimension::rate),
          std::pair("cluster.node.pcie_latency", Dimension::time),
          std::pair("cluster.node.socket_bandwidth", Dimension::rate),
          std::pair("cluster.node.socket_latency", Dimension::time)}) {
      values_.optional_quantity(path, dimension, Zero::allowed);
    }
  }

  void apply_node_preset(NodeSpec& node) {
    const auto preset =
        preset_of("cluster.node.preset", node_preset_names(platforms_), read_node_preset);
    if (!preset) return;
    node = preset->spec;
    nic_bandwidth_bytes_per_s_ = preset->nic_bandwidth_bytes_per_s;
    read_.node_device = preset->device;
    read_.cluster.node_preset = text_.string("cluster.node.preset");
  }

  // What `read_preset` reads of the catalogue's entry that the field names, if there is one.
  template <typename Preset>
  std::optional<Preset> preset_of(const char* path, const std::vector<std::string>& names,
                                  std::optional<Preset> (*read_preset)(const std::filesystem::path&,
                                                                       const std::string&,
                                                                       std::vector<Fault>&)) {
    const std::string name = text_.string(path);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string allowed =
          names.empty() ? "no presets found in " + platforms_.string() : one_of(names);
      text_.refuse(path, "is not in the catalogue", allowed, nearest_name(name, names));
      return std::nullopt;
    }
    std::vector<Fault> faults;
    std::optional<Preset> preset = read_preset(platforms_, name, faults);
    text_.refuse_file(path, {}, faults);
    return preset;
  }

  void read_pcie(NodeSpec& node) {
    const bool has_preset = text_.has("cluster.node.preset");
    const bool has_pcie = text_.has("cluster.node.pcie_bandwidth");
    const std::size_t per_switch = has_preset ? node.devices_per_pcie_switch
                                   : has_pcie ? node.devices
                                              : 0;
    node.devices_per_pcie_switch = static_cast<std::size_t>(
        values_.optional_whole("cluster.node.devices_per_pcie_switch", kPartsOrNone)
            .value_or(static_cast<std::int64_t>(per_switch)));
    node.pcie_switches_per_host = static_cast<std::size_t>(
        values_.optional_whole("cluster.node.pcie_switches_per_host", kParts)
            .value_or(has_preset ? static_cast<std::int64_t>(node.pcie_switches_per_host)
                                 : kParts.high));
    if (node.devices_per_pcie_switch == 0) return;
    node.pcie_cable =
        required_cable("cluster.node.pcie_bandwidth", "cluster.node.pcie_latency", node.pcie_cable);
    const std::size_t switches =
        (node.devices + node.devices_per_pcie_switch - 1) / node.devices_per_pcie_switch;
    if (switches > node.pcie_switches_per_host) {
      node.socket_cable = required_cable("cluster.node.socket_bandwidth",
                                         "cluster.node.socket_latency", node.socket_cable);
    }
  }

  // Fields replace the figures of a preset, which are there if its bandwidth is.
  CableSpec required_cable(const char* bandwidth, const char* latency, CableSpec cable) {
    if (cable.bandwidth_bytes_per_s == 0 || text_.has(bandwidth)) {
      cable.bandwidth_bytes_per_s =
          values_.required_quantity(bandwidth, Dimension::rate, Zero::refused);
    }
    cable.latency_s = values_.optional_quantity(latency, Dimension::time, Zero::allowed)
                          .value_or(cable.latency_s);
    return cable;
  }

  void read_nodes() {
    const std::size_t per_node = std::max<std::size_t>(read_.cluster.devices_per_node, 1);
    const std::size_t needed = (world_size_ + per_node - 1) / per_node;
    spec().nodes = static_cast<std::size_t>(values_.optional_whole("cluster.nodes", kNodes)
                                                .value_or(static_cast<std::int64_t>(needed)));
    if (spec().nodes < needed && !text_.is_refused("cluster.nodes") &&
        !text_.is_refused("cluster.world_size") && !text_.is_refused("cluster.node")) {
      text_.refuse_combination(
          "cluster.nodes", "is not enough",
          "at least " + std::to_string(needed) + " for " + std::to_string(world_size_) + " ranks");
    }
  }

  void read_fabric() {
    const bool has_nodes = spec().node.has_value() || is_nccl_;
    const bool is_needed = !has_nodes || spec().nodes > 1;
    if (!is_needed && !text_.has("cluster.fabric") && !text_.has("cluster.link")) return;
    FabricSpec& fabric = spec().fabric.emplace();
    fabric.kind = fabric_kind(text_.enumerator("cluster.fabric.kind"));
    read_link(fabric.cable);
    if (fabric.kind == FabricKind::leaf_spine) {
      fabric.endpoints_per_leaf = static_cast<std::size_t>(
          values_.required_whole("cluster.fabric.endpoints_per_leaf", kSwitches));
      fabric.spines =
          static_cast<std::size_t>(values_.required_whole("cluster.fabric.spines", kSwitches));
    } else {
      refuse_for("cluster.fabric.endpoints_per_leaf", "with kind LEAF_SPINE");
    }
    if (fabric.kind == FabricKind::rails) {
      if (!has_nodes) {
        text_.refuse_combination("cluster.fabric.kind", "needs nodes, whose NICs it joins",
                                 "a node block beside it");
      }
      fabric.spines = static_cast<std::size_t>(
          values_.optional_whole("cluster.fabric.spines", kSwitchesOrNone).value_or(0));
    } else if (fabric.kind != FabricKind::leaf_spine) {
      refuse_for("cluster.fabric.spines", "with kind LEAF_SPINE or RAILS");
    }
    read_oversubscription(fabric);
    if (fabric.kind == FabricKind::fat_tree) {
      fabric.k =
          static_cast<std::size_t>(values_.optional_whole("cluster.fabric.k", kPods).value_or(0));
      if (fabric.k % 2 != 0 && !text_.is_refused("cluster.fabric.k")) {
        text_.refuse("cluster.fabric.k", "is odd", "an even number from 2 to 256");
      }
    } else {
      refuse_for("cluster.fabric.k", "with kind FAT_TREE");
    }
    read_lengths(fabric);
  }

  // Of the fields, else of the fabric's preset, else of the node's NICs, which have no latency.
  void read_link(CableSpec& cable) {
    cable.bandwidth_bytes_per_s = nic_bandwidth_bytes_per_s_;
    const bool has_preset = text_.has("cluster.fabric.preset");
    if (has_preset) {
      const auto preset =
          preset_of("cluster.fabric.preset", fabric_preset_names(platforms_), read_fabric_preset);
      cable.bandwidth_bytes_per_s = preset ? preset->bandwidth_bytes_per_s : 1;
      cable.latency_s = preset ? preset->latency_s : 0;
    }
    cable = required_cable("cluster.link.bandwidth", "cluster.link.latency", cable);
    if (!has_preset && !text_.has("cluster.link.latency")) {
      text_.report_missing("cluster.link.latency",
                           describe(Dimension::time) + ", or a fabric preset");
    }
  }

  void read_oversubscription(FabricSpec& fabric) {
    const char* path = "cluster.fabric.oversubscription";
    if (fabric.kind != FabricKind::leaf_spine && fabric.kind != FabricKind::rails &&
        fabric.kind != FabricKind::fat_tree) {
      refuse_for(path, "with kind LEAF_SPINE, RAILS or FAT_TREE");
      return;
    }
    fabric.oversubscription = values_.number(path, kOversubscriptions);
    const bool is_whole = std::floor(fabric.oversubscription) == fabric.oversubscription;
    if (fabric.kind == FabricKind::fat_tree && !is_whole && !text_.is_refused(path)) {
      text_.refuse_combination(path, "is not allowed", "a whole number with kind FAT_TREE");
    }
  }

  void read_lengths(FabricSpec& fabric) {
    const char* path = "cluster.fabric.lengths";
    const int count = text_.count(path);
    if (fabric.kind != FabricKind::torus) {
      if (count > 0) text_.refuse_combination(path, "concerns no other kind", "with kind TORUS");
      return;
    }
    if (count == 0) {
      text_.report_missing(path, "two or three lengths, for example [4, 2]");
      return;
    }
    if (count == 1 || count > 3) {
      text_.refuse_combination(path,
                               count == 1 ? "is the only length" : "begins more than three lengths",
                               "two or three, for example [4, 2]");
      return;
    }
    for (int i = 0; i < count; ++i) {
      fabric.lengths[static_cast<std::size_t>(i)] =
          static_cast<std::size_t>(check_whole(text_, path, kSwitches, i).value_or(1));
    }
  }

  // A field that the kind does not have.
  void refuse_for(const char* path, const std::string& allowed) {
    if (text_.has(path)) text_.refuse_combination(path, "concerns another kind", allowed);
  }

  void read_placement() {
    const char* path = "cluster.placement.devices";
    const std::size_t per_node = read_.cluster.devices_per_node;
    const std::size_t devices = spec().nodes * per_node;
    std::vector<std::size_t>& placement = read_.cluster.placement;
    if (text_.count(path) > 0) {
      read_explicit_placement(devices);
      return;
    }
    const bool is_round_robin = text_.enumerator("cluster.placement.order") == "ROUND_ROBIN";
    for (std::size_t rank = 0; rank < world_size_; ++rank) {
      placement.push_back(is_round_robin ? rank % spec().nodes * per_node + rank / spec().nodes
                                         : rank);
    }
  }

  void read_explicit_placement(std::size_t devices) {
    const char* path = "cluster.placement.devices";
    if (text_.has("cluster.placement.order")) {
      text_.refuse_combination("cluster.placement.order", "is not allowed",
                               "either an order or a list of devices");
    }
    const auto count = static_cast<std::size_t>(text_.count(path));
    if (count != world_size_ && !text_.is_refused("cluster.world_size")) {
      text_.refuse_combination(path, "and " + std::to_string(count - 1) + " more are not as many",
                               "a device for each of the " + std::to_string(world_size_) +
                                   " ranks (cluster.world_size)");
      return;
    }
    std::vector<int> rank_of(devices, -1);
    for (int rank = 0; rank < static_cast<int>(count); ++rank) {
      const auto device =
          check_whole(text_, path, {0, static_cast<std::int64_t>(devices) - 1}, rank);
      if (!device) continue;
      int& taken_by = rank_of[static_cast<std::size_t>(*device)];
      if (taken_by >= 0) {
        text_.refuse(path,
                     "is the device of rank " + std::to_string(taken_by) +
                         " already: a rank has its device, its memory and its links to itself",
                     "each device once", {}, rank);
        continue;
      }
      taken_by = rank;
      read_.cluster.placement.push_back(static_cast<std::size_t>(*device));
    }
  }

  MessageText& text_;
  Values values_;
  const std::filesystem::path& platforms_;
  const std::filesystem::path& file_;  // cluster.file.
  std::size_t world_size_;
  double nic_bandwidth_bytes_per_s_ = 0;  // Of a node's preset or file; 0 if it has none.
  bool is_nccl_ = false;
  ReadCluster read_;
};

}  // namespace

ReadCluster read_cluster(MessageText& text, const ClusterFolders& folders, int world_size) {
  return ClusterReader(text, folders, world_size).read();
}

}  // namespace shardscope
