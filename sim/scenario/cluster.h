// The scenario's cluster, read, checked and resolved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/collectives/plan.h"
#include "sim/topology/cluster_spec.h"
#include "sim/topology/parts.h"

namespace shardscope {

class Topology;

/// From a date on, since the start.
struct SpeedChange {
  double at_s = 0;
  double speed = 1;
};

/// A rank's device beside the scenario's: kernels take 1 / speed of the time.
struct RankSpeed {
  double speed = 1;
  std::vector<SpeedChange> changes;  ///< By date.
  bool has_profile = false;          ///< The platform's file changes it.
};

struct BandwidthChange {
  double at_s = 0;
  double bandwidth_bytes_per_s = 0;
};

/// What is different about links whose names match.
struct LinkChange {
  std::string links;  ///< A name, or a pattern with * and ?.
  std::optional<double> bandwidth_bytes_per_s;
  std::optional<double> latency_s;
  std::vector<BandwidthChange> changes;  ///< By date.
};

/// Messages from a device to another beside the training's.
struct BackgroundFlow {
  std::string from;  ///< Names of devices.
  std::string to;
  std::uint64_t message_bytes = 0;
  double every_s = 0;  ///< Between two begins, unless the first takes longer.
  double begin_s = 0;
};

/// A SimGrid platform: SimGrid loads it, and keeps its routes.
struct PlatformFile {
  std::string path;
  std::vector<std::string> hosts;  ///< Names, by device.
};

/// A file that describes the cluster or its nodes.
struct ClusterFile {
  std::string path;
  std::string kind;                     ///< "an NCCL topology"
  std::string digest;                   ///< Of its bytes.
  std::vector<std::string> understood;  ///< "8 devices"
  std::vector<std::string> left_aside;  ///< What has no meaning here.
};

/// Whether collectives are simulated message by message, as flows, or as flows where all edges take
/// the same time within kFlowTolerance (flow_accuracy.h).
enum class Fidelity { message, flow, automatic };

inline constexpr double kFlowTolerance = 0.01;

/// Which schedules collectives follow.
struct CollectiveSpec {
  std::optional<Algorithm> algorithm = Algorithm::ring;  ///< None: AUTO.
  int channels = 1;                                      ///< Of rings.
  Fidelity fidelity = Fidelity::message;
};

/// "MESSAGE", "FLOW", "AUTO".
std::string_view name(Fidelity fidelity);

struct Cluster {
  /// Nodes and a fabric. The topology of `topology_of`, unless another one was read.
  ClusterSpec spec;
  std::string node_preset;  ///< Where `spec.node` is from; empty for none.
  std::optional<ClusterFile> file;
  std::shared_ptr<const Topology> read;  ///< From the file; null if there is none.
  std::optional<PlatformFile> platform;  ///< Instead of a topology.
  std::vector<RankSpeed> device_speeds;  ///< By device, as the file says; empty if they are alike.
  std::size_t devices_per_node = 1;

  /// By rank, its device: index in Topology::devices().
  std::vector<std::size_t> placement;
  std::vector<RankSpeed> rank_speeds;  ///< By rank; empty if all devices are alike.
  std::vector<LinkChange> link_changes;
  std::vector<BackgroundFlow> background;
  CollectiveSpec collective;
};

/// Unless the cluster is a platform: what was read or is built, with the links' changes but those
/// of later dates. It passes check().
Topology topology_of(const Cluster& cluster);

/// Whether all ranks and links are alike and stay so, and no other traffic goes on.
bool is_steady(const Cluster& cluster);

/// Whether each node that has ranks has as many of them.
bool has_even_nodes(const std::vector<int>& node_of_rank);

/// "needs as many ranks on each node": of a cluster that asks for HIERARCHICAL and cannot have it.
std::optional<std::string> why_not_hierarchical(const Cluster& cluster);

/// The node that a rank's device is on.
int node_of(const Cluster& cluster, int rank);

/// Whether a link's name matches a name, or a pattern with * and ?.
bool matches(const std::string& link, const std::string& pattern);

/// Links whose names match: a name, or a pattern with * and ?.
std::vector<LinkId> matching_links(const Topology& topology, const std::string& pattern);

}  // namespace shardscope
