#include "sim/scenario/node_catalogue.h"

#include <algorithm>
#include <utility>

#include "platforms/node.pb.h"
#include "sim/scenario/catalogue.h"
#include "sim/scenario/catalogue_file.h"
#include "sim/scenario/checks.h"
#include "sim/scenario/nvlink_pairs.h"
#include "sim/text/nearest_name.h"
#include "sim/text/text_file.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

constexpr std::int64_t kMostParts = 256;

// The checks of one file, block by block.
class NodeReader {
 public:
  NodeReader(MessageText& text, const catalogue::Node& message) : text_(text), message_(message) {}

  NodePreset read(const std::vector<std::string>& device_names) {
    NodePreset preset;
    preset.device = read_device(device_names);
    preset.spec.devices = whole("devices", 1);
    if (text_.has("nvlink")) read_nvlink(preset.spec);
    if (text_.has("pcie")) read_pcie(preset.spec);
    preset.spec.nics = whole("nics", 0);
    preset.nic_bandwidth_bytes_per_s = read_nic_bandwidth(preset.spec.nics);
    return preset;
  }

 private:
  std::size_t whole(const char* path, std::int64_t least) {
    return static_cast<std::size_t>(
        require_whole(text_, path, {least, kMostParts}).value_or(least));
  }

  CableSpec cable(const char* bandwidth, const char* latency) {
    CableSpec cable;
    cable.bandwidth_bytes_per_s =
        require_quantity(text_, bandwidth, Dimension::rate, Zero::refused).value_or(0);
    cable.latency_s = require_quantity(text_, latency, Dimension::time, Zero::allowed).value_or(0);
    return cable;
  }

  std::string read_device(const std::vector<std::string>& names) {
    if (!text_.has("device")) {
      text_.report_missing("device", "a device of the catalogue");
      return {};
    }
    std::string device = text_.string("device");
    if (std::find(names.begin(), names.end(), device) == names.end()) {
      text_.refuse("device", "is not in the catalogue", one_of(names), nearest_name(device, names));
    }
    return device;
  }

  void read_nvlink(NodeSpec& spec) {
    spec.nvlink_cable = cable("nvlink.bandwidth", "nvlink.latency");
    if (!text_.has("nvlink.kind")) {
      text_.report_missing("nvlink.kind", "NVSWITCH or MESH");
      return;
    }
    if (message_.nvlink().kind() == catalogue::Nvlink::MESH) {
      spec.nvlink = NodeSpec::Nvlink::mesh;
      spec.nvlink_pairs = read_pairs(spec.devices);
    } else {
      spec.nvlink = NodeSpec::Nvlink::nvswitch;
      refuse_if(message_.nvlink().pairs_size() > 0, "nvlink.pairs", "a MESH");
    }
  }

  std::vector<NvlinkPair> read_pairs(std::size_t devices) {
    const char* path = "nvlink.pairs";
    std::vector<NvlinkPair> pairs;
    if (text_.is_refused(path) || !is_known("devices")) return pairs;
    for (int i = 0; i < message_.nvlink().pairs_size(); ++i) {
      const std::optional<NvlinkPair> pair = parse_nvlink_pair(message_.nvlink().pairs(i), devices);
      if (!pair) {
        text_.refuse(path, "is not allowed", describe_nvlink_pair(devices), {}, i);
      } else if (holds_pair(pairs, *pair)) {
        text_.refuse(path, "is listed twice", "each two devices once", {}, i);
      } else {
        pairs.push_back(*pair);
      }
    }
    return pairs;
  }

  void read_pcie(NodeSpec& spec) {
    spec.devices_per_pcie_switch = whole("pcie.devices_per_switch", 1);
    spec.pcie_switches_per_host = whole("pcie.switches_per_host", 1);
    spec.pcie_cable = cable("pcie.bandwidth", "pcie.latency");
    for (const char* path : {"devices", "pcie.devices_per_switch", "pcie.switches_per_host"}) {
      if (!is_known(path)) return;
    }
    if (spec.devices > spec.devices_per_pcie_switch * spec.pcie_switches_per_host) {
      spec.socket_cable = cable("pcie.socket_bandwidth", "pcie.socket_latency");
    } else {
      for (const char* path : {"pcie.socket_bandwidth", "pcie.socket_latency"}) {
        refuse_if(text_.has(path), path, "several host bridges");
      }
    }
  }

  double read_nic_bandwidth(std::size_t nics) {
    const char* path = "nic_bandwidth";
    if (!is_known("nics")) return 0;
    if (nics == 0) {
      refuse_if(text_.has(path), path, "NICs");
      return 0;
    }
    return require_quantity(text_, path, Dimension::rate, Zero::refused).value_or(0);
  }

  // Neither wrong nor behind an error of syntax.
  bool is_known(const char* path) const { return text_.has(path) && !text_.is_refused(path); }

  void refuse_if(bool given, const char* path, const std::string& what) {
    if (given) text_.refuse_combination(path, "is for " + what + " only", "leave it out");
  }

  MessageText& text_;
  const catalogue::Node& message_;
};

// What a topology of such nodes refuses. Two of them, if they have NICs to be joined by.
void check_topology(const std::string& file, const NodeSpec& spec, std::vector<Fault>& faults) {
  Topology topology;
  NodeEndpoints endpoints;
  for (const std::string& fault : add_nodes(topology, spec.nics > 0 ? 2 : 1, spec, endpoints)) {
    faults.push_back({file, {}, fault, {}, {}});
  }
}

}  // namespace

std::vector<std::string> node_preset_names(const std::filesystem::path& platforms) {
  return preset_names(platforms, kNodeFolder);
}

std::optional<NodePreset> read_node_preset(const std::filesystem::path& platforms,
                                           const std::string& name, std::vector<Fault>& faults) {
  const std::string file = preset_path(platforms, kNodeFolder, name);
  std::optional<std::string> contents = read_text_file(file, faults);
  if (!contents) return std::nullopt;

  catalogue::Node message;
  MessageText text(file, std::move(*contents), {}, message);
  NodePreset preset = NodeReader(text, message).read(device_preset_names(platforms));
  if (!passes(text, faults)) return std::nullopt;
  const std::size_t before = faults.size();
  check_topology(file, preset.spec, faults);
  if (faults.size() != before) return std::nullopt;
  return preset;
}

}  // namespace shardscope
