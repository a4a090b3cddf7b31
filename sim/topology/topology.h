// A cluster as a directed property graph: devices, NICs, bridges and switches, and the links
// between them. The one model between every description of a cluster and what simulates it.
//
//     device0 ==== bridge ==== nic0 ==== network switch ==== ...
//
// A full-duplex cable is two directed links, one each way, that do not slow each other.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/parts.h"

namespace shardscope {

class Topology {
 public:
  struct Node {
    std::string name;
    NodeKind kind = NodeKind::device;
  };
  struct Edge {
    LinkId link = 0;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Node, Edge>;

  /// Devices are counted from 0 in the order of adding.
  NodeId add_node(std::string name, NodeKind kind);
  NodeId add_device(std::string name) { return add_node(std::move(name), NodeKind::device); }

  /// One direction only. Both nodes must exist.
  LinkId add_link(std::string name, NodeId from, NodeId to, const CableSpec& cable);

  /// Named "a->b" after the nodes; "a->b #1" and so on where a link leads from a to b already.
  LinkId add_link(NodeId from, NodeId to, const CableSpec& cable);

  /// Both directions, named in that way, the one from a to b first.
  void connect(NodeId a, NodeId b, const CableSpec& cable);

  /// Replaces a link's figures.
  void set_cable(LinkId id, const CableSpec& cable) { links_[id].cable = cable; }

  const Graph& graph() const { return graph_; }
  std::size_t node_count() const { return num_vertices(graph_); }
  const Node& node(NodeId id) const { return graph_[id]; }
  const std::vector<Link>& links() const { return links_; }
  const Link& link(LinkId id) const { return links_[id]; }

  /// By device index, its node.
  const std::vector<NodeId>& devices() const { return devices_; }

  /// All that is wrong, each as a text that names the parts; empty if nothing is. Names that are
  /// taken twice, links from a node to itself, bandwidths that are not positive and finite,
  /// latencies that are negative or not finite, no device, devices that cannot reach each other.
  std::vector<std::string> check() const;

 private:
  Graph graph_;
  std::vector<Link> links_;
  std::vector<NodeId> devices_;
};

}  // namespace shardscope
