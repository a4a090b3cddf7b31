#include "sim/topology_files/dot_parser.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/property_map/dynamic_property_map.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "sim/topology_files/child.pb.h"
#include "sim/topology_files/notes.h"

namespace shardscope {
namespace {

using Attributes = std::map<std::string, std::string>;

constexpr std::size_t kLongestValue = 256;                      // Longer ones are no value of ours.
constexpr std::size_t kLongestSearched = std::size_t{1} << 20;  // For the line of an error.

template <typename Directed>
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, Directed, Attributes, Attributes>;

// An attribute of nodes or edges, kept with these.
template <typename AnyGraph, typename Key>
class KeptAttribute : public boost::dynamic_property_map {
 public:
  KeptAttribute(AnyGraph& graph, std::string name) : graph_(graph), name_(std::move(name)) {}

  boost::any get(const boost::any& key) override { return get_string(key); }
  std::string get_string(const boost::any& key) override {
    return graph_[boost::any_cast<Key>(key)][name_];
  }
  void put(const boost::any& key, const boost::any& value) override {
    graph_[boost::any_cast<Key>(key)][name_] = boost::any_cast<std::string>(value);
  }
  const std::type_info& key() const override { return typeid(Key); }
  const std::type_info& value() const override { return typeid(std::string); }

 private:
  AnyGraph& graph_;
  std::string name_;
};

constexpr const char* kNodeName = "the node's name";  // No attribute in a file is named so.

template <typename Directed>
struct Parsed {
  using Vertex = typename boost::graph_traits<Graph<Directed>>::vertex_descriptor;
  using Edge = typename boost::graph_traits<Graph<Directed>>::edge_descriptor;

  explicit Parsed(const std::string& text) {
    boost::dynamic_properties properties([this](const std::string& name, const boost::any& key,
                                                const boost::any&) { return kept(name, key); });
    boost::read_graphviz(text, graph, properties, kNodeName);
  }

  boost::shared_ptr<boost::dynamic_property_map> kept(const std::string& name,
                                                      const boost::any& key) {
    if (key.type() == typeid(Vertex)) {
      return boost::make_shared<KeptAttribute<Graph<Directed>, Vertex>>(graph, name);
    }
    if (key.type() == typeid(Edge)) {
      return boost::make_shared<KeptAttribute<Graph<Directed>, Edge>>(graph, name);
    }
    left_aside.add("attribute", name, "the graph");
    return nullptr;
  }

  Graph<Directed> graph;
  NameCounts left_aside;
};

// Takes an attribute of ours out.
std::optional<std::string> take(Attributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) {
    return std::nullopt;
  }
  std::string value = found->second.substr(0, kLongestValue);
  attributes.erase(found);
  return value;
}

template <typename Directed>
DotGraph message_of(Parsed<Directed>& parsed, bool directed) {
  DotGraph message;
  message.set_directed(directed);
  for (auto [vertex, end] = vertices(parsed.graph); vertex != end; ++vertex) {
    Attributes& attributes = parsed.graph[*vertex];
    DotGraph::Node& node = *message.add_nodes();
    node.set_name(attributes[kNodeName]);
    attributes.erase(kNodeName);
    if (const auto kind = take(attributes, "kind")) node.set_kind(*kind);
    for (const auto& attribute : attributes) {
      parsed.left_aside.add("attribute", attribute.first, "nodes");
    }
  }
  for (auto [it, end] = edges(parsed.graph); it != end; ++it) {
    Attributes& attributes = parsed.graph[*it];
    DotGraph::Edge& edge = *message.add_edges();
    edge.set_from(static_cast<std::uint32_t>(source(*it, parsed.graph)));
    edge.set_to(static_cast<std::uint32_t>(target(*it, parsed.graph)));
    if (const auto bandwidth = take(attributes, "bandwidth")) edge.set_bandwidth(*bandwidth);
    if (const auto latency = take(attributes, "latency")) edge.set_latency(*latency);
    if (const auto kind = take(attributes, "kind")) edge.set_kind(*kind);
    for (const auto& attribute : attributes) {
      parsed.left_aside.add("attribute", attribute.first, "edges");
    }
  }
  for (const auto& [name, count] : parsed.left_aside.counts()) {
    CountedName& counted_name = *message.add_left_aside();
    counted_name.set_name(name);
    counted_name.set_count(count);
  }
  return message;
}

DotGraph parse(const std::string& text) {
  try {
    Parsed<boost::directedS> parsed(text);
    return message_of(parsed, true);
  } catch (const boost::undirected_graph_error&) {
    Parsed<boost::undirectedS> parsed(text);
    return message_of(parsed, false);
  }
}

std::optional<std::string> syntax_error(const std::string& text) {
  try {
    parse(text);
    return std::nullopt;
  } catch (const boost::bad_graphviz_syntax& error) {
    return error.what();
  }
}

// The reader does not say where an error is: it is where the shortest text of whole lines ends that
// has the same error. An error at the end of the text is on its last line.
std::size_t line_of_error(const std::string& text, const std::string& error) {
  if (text.size() > kLongestSearched) {
    return 0;
  }
  std::vector<std::size_t> ends;  // Of lines.
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
    ends.push_back(i + 1);
  }
  ends.push_back(text.size());
  if (error.find("<eof>") != std::string::npos || error.find("end of input") != std::string::npos) {
    return ends.size();
  }
  const auto line = std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) {
    return syntax_error(text.substr(0, end)) != error;
  });
  return static_cast<std::size_t>(line - ends.begin()) + 1;
}

}  // namespace

std::string parse_dot(const std::string& text) {
  DotGraph message;
  try {
    message = parse(text);
  } catch (const boost::bad_graphviz_syntax& error) {
    message.set_syntax_error(error.what());
    message.set_error_line(line_of_error(text, error.what()));
  }
  return message.SerializeAsString();
}

}  // namespace shardscope
