#include "sim/plan/point_overrides.h"

#include <algorithm>
#include <utility>

#include "sim/plan/candidates.h"
#include "sim/text/comma_list.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostChannels = 64;
constexpr std::int64_t kMostAccumulation = 100'000'000;  // Beyond what a scenario may have.

Override own(const std::string& place, const std::string& field, const std::string& value) {
  return {place, field + "=" + value};
}

// Of nodes that a file describes.
std::size_t nics_of_read_node(const Cluster& cluster) {
  if (cluster.read == nullptr || cluster.devices_per_node == 0) {
    return 0;
  }
  std::size_t nics = 0;
  for (NodeId id = 0; id < cluster.read->node_count(); ++id) {
    nics += cluster.read->node(id).kind == NodeKind::nic ? 1 : 0;
  }
  const std::size_t nodes = cluster.read->devices().size() / cluster.devices_per_node;
  return nodes == 0 ? 0 : nics / nodes;
}

}  // namespace

PlanCluster plan_cluster(const Cluster& cluster) {
  PlanCluster facts;
  facts.devices_per_node = cluster.devices_per_node;
  facts.built_nodes = cluster.spec.node.has_value();
  facts.nics = facts.built_nodes ? cluster.spec.node->nics : nics_of_read_node(cluster);
  if (cluster.platform.has_value()) {
    facts.devices = cluster.platform->hosts.size();
  } else if (cluster.read != nullptr) {
    facts.devices = cluster.read->devices().size();
  }
  return facts;
}

std::vector<Override> PointOverrides::of(const PlanVariant& variant, int ranks,
                                         std::size_t batch) const {
  std::vector<Override> all = request_.defaults;
  const auto add = [&](const std::vector<Override>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  const std::string place = "--ranks " + std::to_string(ranks);
  if (!given_.says("training.precision")) {
    all.push_back(own("plan", "training.precision", precision_));
  }
  // As NCCL, a ring for each NIC.
  if (cluster_.nics > 1 && static_cast<std::size_t>(ranks) > cluster_.devices_per_node &&
      !given_.says("cluster.collective.channels") && !given_.says("cluster.collective.algorithm")) {
    all.push_back(own("plan", "cluster.collective.channels",
                      std::to_string(std::min(cluster_.nics, kMostChannels))));
  }
  if (variant.config.has_value()) {
    add_config(*variant.config, all);
    if (variant.config->optimizer_offload == Offload::cpu) {
      all.push_back(own(request_.config->file.path.string(), "training.optimizer_offload", "CPU"));
    }
  }
  const std::optional<std::string> names =
      variant.strategies.has_value() ? variant.strategies : strategies_without_config(ranks);
  if (!variant.config.has_value() && has_hybrid(names) &&
      !given_.says("options.shard_group_size") &&
      has_copies_by_node(static_cast<std::size_t>(ranks), cluster_.devices_per_node)) {
    all.push_back(
        own("plan", "options.shard_group_size", std::to_string(cluster_.devices_per_node)));
  }
  add(request_.overrides);
  all.push_back(own(place, "cluster.world_size", std::to_string(ranks)));
  std::size_t rows = batch * static_cast<std::size_t>(ranks);
  if (const auto accumulation = given_.accumulation(variant.config.has_value())) {
    rows *= static_cast<std::size_t>(std::clamp<std::int64_t>(*accumulation, 1, kMostAccumulation));
  } else {
    all.push_back(own(place, "training.micro_batches", "1"));  // Points set theirs.
  }
  all.push_back(own(place, "training.global_batch", std::to_string(rows)));
  if (names.has_value()) {
    all.push_back(
        own(request_.strategies.has_value() ? "--strategy " + *request_.strategies : place,
            "strategies", *names));
  }
  return all;
}

// What follows from the precision that it asks for does not from another one.
void PointOverrides::add_config(const FrameworkConfig& config, std::vector<Override>& all) const {
  for (const Override& set : config.overrides) {
    const std::string field = set.assignment.substr(0, set.assignment.find('='));
    const auto& of_precision = config.fields_of_precision;
    const bool follows =
        std::find(of_precision.begin(), of_precision.end(), field) != of_precision.end();
    if (!follows || !given_.is_set("training.precision")) {
      all.push_back(set);
    }
  }
}

// Whether it is among the names or, if there are none, the scenario's strategies.
bool PointOverrides::has_hybrid(const std::optional<std::string>& names) const {
  const std::vector<std::string> all = names.has_value() ? comma_list(*names) : given_.strategies();
  return std::find(all.begin(), all.end(), "FSDP_HYBRID_SHARD") != all.end();
}

std::optional<std::string> PointOverrides::strategies_without_config(int ranks) const {
  if (request_.strategies.has_value()) {
    return request_.strategies;
  }
  if (given_.says("strategies")) {
    return std::nullopt;
  }
  return comma_joined(usual_strategies(static_cast<std::size_t>(ranks), cluster_.devices_per_node,
                                       given_.is_on_host()));
}

}  // namespace shardscope
