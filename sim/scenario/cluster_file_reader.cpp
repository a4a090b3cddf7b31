#include "sim/scenario/cluster_file_reader.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/scenario/digest.h"
#include "sim/scenario/node_catalogue.h"
#include "sim/topology_files/simgrid_platform.h"

namespace shardscope {
namespace {

constexpr const char* kFile = "cluster.file";

void append(const TopologyNotes& notes, ClusterFile& file) {
  file.understood.insert(file.understood.end(), notes.understood.begin(), notes.understood.end());
  file.left_aside.insert(file.left_aside.end(), notes.left_aside.begin(), notes.left_aside.end());
}

// The preset that cluster.node names, else the first node of the catalogue with that device, and
// as many of them if there is one.
std::string node_with(const std::filesystem::path& platforms, const std::string& device,
                      std::size_t devices) {
  std::string found;
  for (const std::string& name : node_preset_names(platforms)) {
    std::vector<Fault> faults;
    const auto preset = read_node_preset(platforms, name, faults);
    if (!preset || preset->device != device) continue;
    if (preset->spec.devices == devices) return name;
    if (found.empty()) found = name;
  }
  return found;
}

// A fault says which pattern it is about, and the place shows it again.
void refuse_hosts(MessageText& text, const std::vector<std::string>& patterns, const Fault& fault) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string quoted = "\"" + patterns[i] + "\" ";
    if (fault.problem.starts_with(quoted)) {
      text.refuse("cluster.hosts", fault.problem.substr(quoted.size()), fault.allowed,
                  fault.nearest, static_cast<int>(i));
      return;
    }
  }
  text.refuse_combination("cluster.hosts", fault.problem, fault.allowed);
}

void set_latencies(NcclNode& node, const NodeSpec& spec) {
  set_latency(node, LinkKind::nvlink, spec.nvlink_cable.latency_s);
  set_latency(node, LinkKind::pcie, spec.pcie_cable.latency_s);
  set_latency(node, LinkKind::socket, spec.socket_cable.latency_s);
}

}  // namespace

std::optional<TopologyFile> read_cluster_file(MessageText& text,
                                              const std::filesystem::path& absolute,
                                              Cluster& cluster) {
  std::vector<Fault> faults;
  std::optional<TopologyFile> file = read_topology_file(absolute.string(), faults);
  text.refuse_file(kFile, absolute.string(), faults);
  if (!file) return std::nullopt;
  ClusterFile& described = cluster.file.emplace();
  described.path = absolute.string();
  described.kind = name(file->kind);
  described.digest = file_digest(absolute).value_or("");
  append(file->notes, described);
  return file;
}

void read_platform_hosts(MessageText& text, const std::filesystem::path& absolute, int world_size,
                         Cluster& cluster) {
  std::vector<Fault> faults;
  const auto platform = describe_simgrid_platform(absolute.string(), faults);
  text.refuse_file(kFile, absolute.string(), faults);
  if (!platform) return;
  for (const SimgridLink& link : platform->links) {
    if (link.latency_profile) {  // SimGrid would set a latency that receivers wait for already.
      text.refuse_combination(kFile, "has a latency_file at link " + link.name,
                              "latencies that stay as they are");
      return;
    }
  }
  append(platform->notes, *cluster.file);
  std::vector<std::string> patterns;
  for (int i = 0; i < text.count("cluster.hosts"); ++i) {
    patterns.push_back(text.string("cluster.hosts", i));
  }
  std::vector<std::string> hosts = select_hosts(*platform, patterns, faults);
  for (const Fault& fault : faults) refuse_hosts(text, patterns, fault);
  if (!faults.empty()) return;
  const auto ranks = static_cast<std::size_t>(world_size);
  if (hosts.size() < ranks) {
    text.refuse_combination(
        patterns.empty() ? kFile : "cluster.hosts",
        "gives " + counted(hosts.size(), "host") + " for " + std::to_string(world_size) + " ranks",
        "at least as many hosts as cluster.world_size");
    return;
  }
  const std::vector<std::string> used(hosts.begin(), hosts.begin() + world_size);
  if (!platform_routes(absolute.string(), used, faults)) {
    text.refuse_file(kFile, absolute.string(), faults);
    return;
  }
  double fastest = 0;
  const auto host_of = [&](const std::string& name) {
    return std::find_if(platform->hosts.begin(), platform->hosts.end(),
                        [&](const SimgridHost& host) { return host.name == name; });
  };
  const auto speed_of = [&](const SimgridHost& host) {
    return host.speeds_flop_per_s[host.power_state];
  };
  for (const std::string& name : hosts) fastest = std::max(fastest, speed_of(*host_of(name)));
  for (const std::string& name : hosts) {
    const SimgridHost& host = *host_of(name);
    cluster.device_speeds.push_back(
        {.speed = speed_of(host) / fastest, .changes = {}, .has_profile = host.speed_profile});
  }
  cluster.platform = PlatformFile{absolute.string(), std::move(hosts)};
}

void complete_nccl_node(MessageText& text, const std::filesystem::path& platforms, NcclNode& node,
                        Cluster& cluster) {
  const bool is_named = text.has("cluster.node.preset");
  const std::string preset_name =
      is_named ? text.string("cluster.node.preset")
               : node_with(platforms, text.string("cluster.device.preset"), node.devices);
  std::vector<Fault> faults;
  const auto preset =
      preset_name.empty() ? std::nullopt : read_node_preset(platforms, preset_name, faults);
  if (!preset) {
    if (is_named) {
      text.refuse("cluster.node.preset", "is not in the catalogue",
                  one_of(node_preset_names(platforms)));
    } else if (node.needs_nvlinks) {
      cluster.file->understood.emplace_back(
          "NVLinks: not in the file, and no node of the catalogue has the device: devices use "
          "PCIe");
    }
    return;
  }
  const std::string source = "node " + preset_name + " of the catalogue";
  TopologyNotes notes;
  const bool has_nvlink = preset->spec.nvlink != NodeSpec::Nvlink::none;
  if (node.needs_nvlinks && has_nvlink) {
    for (const std::string& fault : add_nvlinks(node, preset->spec, source, notes)) {
      text.refuse_combination(kFile, fault, "another cluster.node.preset");
    }
  }
  set_latencies(node, preset->spec);
  std::erase_if(cluster.file->understood, [](const std::string& note) {
    return note.starts_with("latencies: ");  // Those of 0 s.
  });
  notes.understood.push_back("latencies: not in the file, taken from " + source);
  append(notes, *cluster.file);
}

}  // namespace shardscope
