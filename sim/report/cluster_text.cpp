#include "sim/report/cluster_text.h"

#include <algorithm>
#include <vector>

#include "sim/report/format.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// More than in the tables: a bandwidth of 1555 GB/s is given exactly.
constexpr int kDigits = 4;

std::string cable_text(const CableSpec& cable) {
  return format_bits_per_s(cable.bandwidth_bytes_per_s, kDigits) + " (" +
         format_bytes_per_s(cable.bandwidth_bytes_per_s, kDigits) + ") and " +
         format_seconds(cable.latency_s, kDigits);
}

std::string node_text(const NodeSpec& node) {
  std::string text = plural(node.devices, "device");
  if (node.nvlink != NodeSpec::Nvlink::none) {
    text += node.nvlink == NodeSpec::Nvlink::nvswitch ? ", NVSwitch, links of "
                                                      : ", NVLink mesh, links of ";
    text += cable_text(node.nvlink_cable);
  }
  if (node.devices_per_pcie_switch > 0) {
    text += ", PCIe of " + cable_text(node.pcie_cable) + ", " +
            std::to_string(node.devices_per_pcie_switch) + " on a switch";
  }
  return text + ", " + plural(node.nics, "NIC");
}

std::string oversubscribed(const FabricSpec& fabric) {
  return fabric.oversubscription == 1
             ? ""
             : ", oversubscribed " + trimmed_significant(fabric.oversubscription, 3, 3) + ":1";
}

std::string fabric_text(const ClusterSpec& spec) {
  const FabricSpec& fabric = *spec.fabric;
  const std::size_t endpoints =
      spec.nodes * (spec.node.has_value() ? spec.node->nics : std::size_t{1});
  const std::string spines = plural(fabric.spines, "spine");
  switch (fabric.kind) {
    case FabricKind::star:
      return "star";
    case FabricKind::ring:
      return "ring of " + std::to_string(endpoints);
    case FabricKind::fully_connected:
      return "each to each";
    case FabricKind::leaf_spine:
      return "leaf-spine, " + std::to_string(fabric.endpoints_per_leaf) + " per leaf, " + spines +
             oversubscribed(fabric);
    case FabricKind::fat_tree:
      return "fat tree, k = " + std::to_string(fat_tree_pods(fabric, endpoints)) +
             oversubscribed(fabric);
    case FabricKind::rails:
      return "rails" + (fabric.spines == 0 ? ", not joined" : ", " + spines) +
             oversubscribed(fabric);
    case FabricKind::torus:
      break;
  }
  std::string text = "torus";
  for (const std::size_t length : fabric.lengths) {
    const bool is_third = &length == &fabric.lengths[2];
    if (length > 1 || !is_third) {
      text += (text == "torus" ? " " : " x ") + std::to_string(length);
    }
  }
  return text;
}

constexpr const char* kSharing = "; max-min fair sharing, no protocol overhead";

std::string spec_text(const ClusterSpec& spec, const std::string& node_preset) {
  if (is_plain_star(spec)) {
    const CableSpec& cable = spec.fabric->cable;
    return "star, one full-duplex link of " + cable_text(cable) +
           " per rank; a path is two links, " + format_seconds(2 * cable.latency_s, kDigits);
  }
  std::string text;
  if (spec.node.has_value()) {
    text = plural(spec.nodes, "node") + " of " +
           (node_preset.empty() ? "" : printable(node_preset) + ": ") + node_text(*spec.node);
  } else {
    text = plural(spec.nodes, "device");
  }
  if (spec.fabric.has_value()) {
    text += "; " + fabric_text(spec) + ", full-duplex links of " + cable_text(spec.fabric->cable);
  }
  return text;
}

std::string speed_text(double speed) { return trimmed_significant(speed, 3, 3) + " times as fast"; }

}  // namespace

namespace {

std::string algorithm_text(const CollectiveSpec& collective) {
  if (!collective.algorithm.has_value()) {
    return "collectives by AUTO";
  }
  switch (*collective.algorithm) {
    case Algorithm::ring:
      return "ring collectives" +
             (collective.channels == 1
                  ? std::string()
                  : " of " + plural(static_cast<std::size_t>(collective.channels), "channel"));
    case Algorithm::halving_doubling:
      return "collectives by recursive halving and doubling";
    case Algorithm::double_tree:
      return "collectives by double binary trees";
    case Algorithm::direct:
      return "direct collectives";
    case Algorithm::hierarchical:
      break;
  }
  return "hierarchical collectives";
}

}  // namespace

std::string collectives_text(const CollectiveSpec& collective) {
  switch (collective.fidelity) {
    case Fidelity::message:
      break;
    case Fidelity::flow:
      return algorithm_text(collective) + " as flows";
    case Fidelity::automatic:
      return algorithm_text(collective) + " as flows where all edges are alike within 1 %";
  }
  return algorithm_text(collective);
}

void write_file(const Cluster& cluster, Page& page) {
  if (!cluster.file.has_value()) {
    return;
  }
  const auto listed_texts = [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
      all += (all.empty() ? "" : "; ") + printable(text);
    }
    return all.empty() ? std::string("nothing") : all;
  };
  page.entry("file", printable(cluster.file->path) + ", " + cluster.file->kind + ": " +
                         listed_texts(cluster.file->understood));
  page.entry("aside", listed_texts(cluster.file->left_aside));
}

std::string network_text(const Cluster& cluster) {
  if (!cluster.file.has_value()) {
    return spec_text(cluster.spec, cluster.node_preset) + kSharing;
  }
  std::string text = cluster.file->kind + " from a file";
  if (cluster.platform.has_value()) {
    text += ", " + plural(cluster.platform->hosts.size(), "host") + ", SimGrid's own routes";
  } else {
    text += ", " + plural(cluster.spec.nodes * cluster.devices_per_node, "device");
  }
  if (cluster.spec.fabric.has_value()) {
    text += "; " + plural(cluster.spec.nodes, "node") + ", " + fabric_text(cluster.spec) +
            ", full-duplex links of " + cable_text(cluster.spec.fabric->cable);
  }
  return text + kSharing;
}

std::string simgrid_text(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    text.append(text.empty() ? "" : ", ").append(name).append(":").append(value);
  }
  return text;
}

std::string placement_text(const Cluster& cluster) {
  constexpr std::size_t kShown = 16;
  const std::vector<std::size_t>& placement = cluster.placement;
  bool in_order = true;
  std::string devices;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    in_order = in_order && placement[rank] == rank;
    devices += rank >= kShown ? "" : (rank == 0 ? "" : ", ") + std::to_string(placement[rank]);
  }
  if (in_order) {
    return {};
  }
  return "rank 0, 1, ... on device " + devices + (placement.size() > kShown ? ", ..." : "");
}

std::string unevenness_text(const Cluster& cluster) {
  std::vector<std::string> parts;
  for (std::size_t rank = 0; rank < cluster.rank_speeds.size(); ++rank) {
    const RankSpeed& speed = cluster.rank_speeds[rank];
    if (speed.speed == 1 && speed.changes.empty()) {
      continue;
    }
    std::string text = "rank " + std::to_string(rank) + " " + speed_text(speed.speed);
    for (const SpeedChange& change : speed.changes) {
      text += ", from " + format_seconds(change.at_s) + " " + speed_text(change.speed);
    }
    parts.push_back(text);
  }
  for (const LinkChange& link : cluster.link_changes) {
    std::string text = "links " + printable(link.links) + " with";
    if (link.bandwidth_bytes_per_s.has_value()) {
      text += " " + format_bits_per_s(*link.bandwidth_bytes_per_s, kDigits);
    }
    if (link.latency_s.has_value()) {
      text += " " + format_seconds(*link.latency_s, kDigits);
    }
    for (const BandwidthChange& change : link.changes) {
      text += ", from " + format_seconds(change.at_s) + " " +
              format_bits_per_s(change.bandwidth_bytes_per_s, kDigits);
    }
    parts.push_back(text);
  }
  for (const BackgroundFlow& flow : cluster.background) {
    parts.push_back(
        "messages of " + format_bytes(static_cast<double>(flow.message_bytes)) + " from " +
        printable(flow.from) + " to " + printable(flow.to) +
        (flow.every_s == 0 ? ", one after another" : " every " + format_seconds(flow.every_s)) +
        (flow.begin_s == 0 ? "" : " from " + format_seconds(flow.begin_s) + " on"));
  }
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

}  // namespace shardscope
