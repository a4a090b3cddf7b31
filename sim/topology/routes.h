// Routes between the devices of a topology.
//
// Which links. A route has as few links as possible, and among those as few as possible that are
// not NVLink: two devices behind one NVSwitch and one PCIe switch use the NVSwitch. Between its
// ends it passes through NICs, bridges and switches only; a pair that cannot be joined so (devices
// in a ring or a torus) is joined through other devices, as few links as possible again. In a torus
// it goes along one dimension after another.
//
// Which of several. Where k links lead on equally well, counted from 0 in the order of adding, a
// route to device d takes number
//
//     (floor(d / m) + (d mod m) ceil(k / m)) mod k,
//
// m being the product of the k's of the choices before it on this route, 1 at the first. The first
// choice is d mod k: any k destinations in a row use all k links. Of flows that met because they
// chose alike before, d mod m is the same, and d / m counts on: the cores of a fat tree are all
// used. Of flows that met in spite of choices before, d mod m differs, and the factor ceil(k / m)
// sets these apart. This is the D-mod-k routing of fat trees (Zahavi, Johnson, Kerbyson and Lang,
// "Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns", 2010), made
// one rule for any graph. The destination alone decides because source + destination would be even
// for each flow of device i to device i + 8, and half of the links would be idle.
//
// As with any fixed rule there are flows that meet: those of one leaf to destinations that are a
// multiple of k apart. The way back may be another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/topology/topology.h"

namespace shardscope {

/// Directed links from the source on; empty from a device to itself.
using Route = std::vector<LinkId>;

/// Distances to a destination are computed when it is first asked for, and kept, 8 bytes per node,
/// as long as those of all destinations take less than 128 MB: then the oldest ones go. Not
/// thread-safe.
class Routes {
 public:
  /// The topology must outlive the routes, not change, and pass check().
  explicit Routes(const Topology& topology);

  /// By device index.
  Route route(std::size_t source, std::size_t destination);

  /// Links of the route, without finding which.
  std::size_t length(std::size_t source, std::size_t destination);

 private:
  struct Distance {
    std::uint32_t links = UINT32_MAX;
    std::uint32_t not_nvlink = 0;
  };
  struct Distances {
    bool through_devices = false;
    std::vector<Distance> from;  // By node; empty until they are needed.
    // As far as it was searched: nodes in the order they were reached, and how many were left.
    std::vector<NodeId> reached;
    std::size_t left = 0;
  };
  struct Destination {
    Distances around_devices;
    Distances through_devices{.through_devices = true, .from = {}, .reached = {}};
  };

  // To the destination, of those that reach from the source.
  const Distances& distances(std::size_t source, std::size_t destination);
  void make_room();
  void fill(Distances& distances, NodeId destination, NodeId source) const;
  bool reaches(NodeId source, NodeId destination, std::uint32_t level, Distances& distances) const;
  // Puts the links from the node that lead on equally well into next_.
  bool may_pass(NodeId node, NodeId destination, const Distances& distances) const;
  void find_next(NodeId node, NodeId destination, const Distances& distances);

  const Topology& topology_;
  std::vector<Destination> destinations_;  // By device index.
  std::deque<std::size_t> filled_;         // Those that are known, the oldest first.
  std::vector<LinkId> next_;
};

}  // namespace shardscope
