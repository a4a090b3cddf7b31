#include "sim/scenario/unevenness_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/block_values.h"
#include "sim/scenario/rank_list.h"
#include "sim/text/nearest_name.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

constexpr NumberRange kSpeeds{0.001, Bound::inclusive, 1000, Bound::inclusive};
constexpr double kLeastMessage = 1024;

class UnevennessReader {
 public:
  UnevennessReader(MessageText& text, int world_size, Cluster& cluster)
      : text_(text), values_(text), world_size_(world_size), cluster_(cluster) {}

  void read_speeds(const schema::Cluster& message) {
    if (message.rank_speed_size() == 0) return;
    std::vector<bool> is_given(static_cast<std::size_t>(world_size_));
    cluster_.rank_speeds.resize(is_given.size());
    for (const schema::RankSpeed& block : message.rank_speed()) {
      const std::string path = "cluster.rank_speed.ranks";
      values_.require("cluster.rank_speed", "ranks", block.has_ranks(), kRanksAllowed);
      const auto ranks = values_.text(path, block.has_ranks(), block.ranks());
      const RankSpeed speed = read_speed(block);
      if (!ranks || text_.is_refused("cluster.world_size")) continue;
      const RankList list = parse_rank_list(*ranks, world_size_);
      if (!list.problem.empty()) {
        values_.refuse(path, list.problem, kRanksAllowed);
        continue;
      }
      for (const int rank : list.ranks) {
        const auto index = static_cast<std::size_t>(rank);
        if (is_given[index]) {
          values_.refuse(path, "has rank " + std::to_string(rank) + " again", "each rank once");
          break;
        }
        is_given[index] = true;
        cluster_.rank_speeds[index].speed *= speed.speed;
        cluster_.rank_speeds[index].changes = speed.changes;
      }
    }
  }

  void read_links(const schema::Cluster& message, const Topology* topology) {
    std::set<LinkId> changed;
    for (const schema::LinkChange& block : message.link_change()) {
      const std::string path = "cluster.link_change.links";
      values_.require("cluster.link_change", "links", block.has_links(),
                      "a link's name or a pattern, for example \"leaf0->spine*\"");
      const auto links = values_.text(path, block.has_links(), block.links());
      LinkChange change = read_link_change(block);
      if (!links) continue;
      change.links = *links;
      if (topology != nullptr) check_links(*topology, *links, changed);
      cluster_.link_changes.push_back(std::move(change));
    }
  }

  void read_background(const schema::Cluster& message, const Topology* topology) {
    for (const schema::Background& block : message.background()) {
      const std::string in = "cluster.background.";
      for (const auto& [field, is_given] :
           {std::pair("from", block.has_from()), std::pair("to", block.has_to())}) {
        values_.require("cluster.background", field, is_given, "a device, for example \"device0\"");
      }
      values_.require("cluster.background", "message", block.has_message(),
                      describe(Dimension::size));
      const auto from = device(in + "from", block.has_from(), block.from(), topology);
      const auto to = device(in + "to", block.has_to(), block.to(), topology);
      if (from && to && *from == *to) {
        values_.refuse(in + "to", "is where it comes from", "another device");
      }
      const auto bytes = values_.quantity(in + "message", block.has_message(), block.message(),
                                          Dimension::size, Zero::refused);
      const auto every = values_.quantity(in + "every", block.has_every(), block.every(),
                                          Dimension::time, Zero::allowed);
      const auto begin = values_.quantity(in + "begin", block.has_begin(), block.begin(),
                                          Dimension::time, Zero::allowed);
      const auto whole = bytes ? whole_bytes(*bytes) : std::nullopt;
      if (bytes && (!whole || *bytes < kLeastMessage)) {
        values_.refuse(in + "message", "is not allowed", "a size from \"1KiB\" to below \"8EiB\"");
      }
      cluster_.background.push_back({from.value_or(""), to.value_or(""), whole.value_or(0),
                                     every.value_or(0), begin.value_or(0)});
    }
  }

 private:
  static constexpr const char* kRanksAllowed =
      "ranks and ranges of them, for example \"3\" or "
      "\"0-3,7\"";

  RankSpeed read_speed(const schema::RankSpeed& block) {
    RankSpeed speed;
    speed.speed =
        values_.number("cluster.rank_speed.speed", block.has_speed(), block.speed(), kSpeeds)
            .value_or(1);
    const std::string in = "cluster.rank_speed.change";
    for (const schema::SpeedChange& change : block.change()) {
      const auto at = date(in, change.has_at(), change.at(),
                           speed.changes.empty() ? -1 : speed.changes.back().at_s);
      values_.require(in, "speed", change.has_speed(), describe(kSpeeds));
      const auto value = values_.number(in + ".speed", change.has_speed(), change.speed(), kSpeeds);
      if (value && *value > speed.speed) {
        values_.refuse(in + ".speed", "is not allowed",
                       "at most the block's own speed, from which it falls");
      }
      speed.changes.push_back({at, value.value_or(1)});
    }
    return speed;
  }

  LinkChange read_link_change(const schema::LinkChange& block) {
    LinkChange change;
    const std::string path = "cluster.link_change";
    change.bandwidth_bytes_per_s =
        values_.quantity(path + ".bandwidth", block.has_bandwidth(), block.bandwidth(),
                         Dimension::rate, Zero::refused);
    change.latency_s = values_.quantity(path + ".latency", block.has_latency(), block.latency(),
                                        Dimension::time, Zero::allowed);
    const std::string in = path + ".change";
    for (const schema::BandwidthChange& later : block.change()) {
      const auto at = date(in, later.has_at(), later.at(),
                           change.changes.empty() ? -1 : change.changes.back().at_s);
      values_.require(in, "bandwidth", later.has_bandwidth(), describe(Dimension::rate));
      const auto value = values_.quantity(in + ".bandwidth", later.has_bandwidth(),
                                          later.bandwidth(), Dimension::rate, Zero::refused);
      change.changes.push_back({at, value.value_or(1)});
    }
    return change;
  }

  // Of a change that must come after another.
  double date(const std::string& block, bool is_given, const std::string& text, double after_s) {
    values_.require(block, "at", is_given, describe(Dimension::time));
    const auto at = values_.quantity(block + ".at", is_given, text, Dimension::time, Zero::allowed);
    if (at && *at <= after_s) {
      values_.refuse(block + ".at", "is not after the change before", "rising dates");
    }
    return at.value_or(0);
  }

  void check_links(const Topology& topology, const std::string& links, std::set<LinkId>& changed) {
    const std::string path = "cluster.link_change.links";
    const std::vector<LinkId> matching = matching_links(topology, links);
    if (matching.empty()) {
      std::vector<std::string> names;
      for (const Link& link : topology.links()) names.push_back(link.name);
      values_.refuse(path, "matches no link", "names as shardscope topology shows them",
                     nearest_name(links, names));
    }
    for (const LinkId id : matching) {
      if (!changed.insert(id).second) {
        values_.refuse(path, "has link " + topology.link(id).name + " again", "each link once");
        break;
      }
    }
  }

  std::optional<std::string> device(const std::string& path, bool is_given,
                                    const std::string& value, const Topology* topology) {
    auto name = values_.text(path, is_given, value);
    if (!name || topology == nullptr) return name;
    std::vector<std::string> names;
    for (const NodeId id : topology->devices()) names.push_back(topology->node(id).name);
    if (std::find(names.begin(), names.end(), *name) != names.end()) return name;
    values_.refuse(path, "is no device", "a device as shardscope topology names them",
                   nearest_name(*name, names));
    return std::nullopt;
  }

  MessageText& text_;
  BlockValues values_;
  int world_size_;
  Cluster& cluster_;
};

// Those that a file gives.
void apply_device_speeds(Cluster& cluster) {
  const std::vector<RankSpeed>& speeds = cluster.device_speeds;
  if (std::all_of(speeds.begin(), speeds.end(),
                  [](const RankSpeed& speed) { return speed.speed == 1 && !speed.has_profile; })) {
    return;
  }
  for (const std::size_t device : cluster.placement) {
    cluster.rank_speeds.push_back(speeds[device]);
  }
}

// What SimGrid's own profiles are for.
void refuse_changes_of_platform(MessageText& text, const schema::Cluster& message) {
  for (const schema::RankSpeed& block : message.rank_speed()) {
    if (block.change_size() > 0) {
      text.refuse_combination("cluster.rank_speed.change", "is not allowed",
                              "a speed_file in the SimGrid platform");
      break;
    }
  }
  for (const schema::LinkChange& block : message.link_change()) {
    if (block.change_size() > 0) {
      text.refuse_combination("cluster.link_change.change", "is not allowed",
                              "a bandwidth_file in the SimGrid platform");
      break;
    }
  }
}

}  // namespace

void read_unevenness(MessageText& text, const schema::Cluster& message, int world_size,
                     Cluster& cluster) {
  apply_device_speeds(cluster);
  const bool is_platform = cluster.platform.has_value();
  const bool needs_topology =
      !is_platform && (message.link_change_size() > 0 || message.background_size() > 0);
  const std::optional<Topology> topology =
      needs_topology && !text.has_faults() ? std::optional(topology_of(cluster)) : std::nullopt;
  const Topology* const known = topology.has_value() ? &*topology : nullptr;
  UnevennessReader reader(text, world_size, cluster);
  if (is_platform) refuse_changes_of_platform(text, message);
  reader.read_speeds(message);
  reader.read_links(message, known);
  reader.read_background(message, known);
}

}  // namespace shardscope
