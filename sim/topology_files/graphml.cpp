#include "sim/topology_files/graphml.h"

#include <algorithm>
#include <boost/any.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/property_tree/exceptions.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// quoted() is called with its namespace, else that of its argument has one as well.

constexpr std::size_t kMostDefaults = 5'000'000;  // Keys with a default times nodes and edges.
constexpr std::size_t kLongestValue = 256;        // Longer ones are no value of ours.

// What Boost's reader does not say: lines, and all that it accepts in silence.
class Check {
 public:
  Check(const XmlFile& file, FaultList& faults, NameCounts& left_aside)
      : file_(file), faults_(faults), left_aside_(left_aside) {}

  bool run() {
    if (file_.names_dtd()) {
      left_aside_.add("the external DTD (not fetched)", 1);
    }
    for (const pugi::xml_node child : file_.root().children()) {
      const std::string_view name = child.name();
      if (name == "key") {
        check_key(child);
      } else if (name == "graph") {
        graphs_.push_back(child);
      } else if (child.type() == pugi::node_element) {
        left_aside_.add("element", name, "<graphml>");
      }
    }
    if (graphs_.empty()) {
      faults_.add(0, {}, "has no <graph>");
      return false;
    }
    for (std::size_t i = 1; i < graphs_.size(); ++i) {
      left_aside_.add("further <graph> elements", 1);
    }
    check_graph(graphs_.front());
    return faults_.empty();
  }

  const std::vector<std::size_t>& node_lines() const { return node_lines_; }
  const std::vector<std::size_t>& edge_lines() const { return edge_lines_; }
  const std::vector<bool>& directed() const { return directed_; }

 private:
  void check_key(pugi::xml_node key) {
    const std::string id = key.attribute("id").value();
    const std::string domain = key.attribute("for").as_string("all");
    const std::string name = key.attribute("attr.name").value();
    const std::string field = "key " + shardscope::quoted(id);
    if (!keys_.insert(id).second) {
      faults_.add(file_.line(key), field, "is declared twice");
    }
    if (!name.empty() && !key_names_.insert({domain, name}).second) {
      faults_.add(file_.line(key), field, "is a second one named " + shardscope::quoted(name));
    }
    static const std::vector<std::string> domains = {"graph", "node",     "edge", "hyperedge",
                                                     "port",  "endpoint", "all",  "graphml"};
    if (std::find(domains.begin(), domains.end(), domain) == domains.end()) {
      faults_.add(file_.line(key), field + ", for", shardscope::quoted(domain) + " is unknown",
                  one_of(domains));
    }
    if (key.attribute("for").empty()) {
      faults_.add(file_.line(key), field + ", for", "is missing", one_of(domains));
    }
    const bool has_default = !key.child("default").empty();
    if (has_default && domain == "all") {
      faults_.add(file_.line(key), field, "has a default for all", "keys for node or for edge");
    }
    defaults_ += has_default ? 1 : 0;
  }

  void check_data(pugi::xml_node element, const std::string& field) {
    const std::string key = element.attribute("key").value();
    if (!keys_.contains(key)) {
      faults_.add(file_.line(element), field,
                  "has data of the unknown key " + shardscope::quoted(key), "a declared <key>",
                  nearest_name(key, std::vector<std::string>(keys_.begin(), keys_.end())));
    }
  }

  void check_graph(pugi::xml_node graph) {
    const std::string edge_default = graph.attribute("edgedefault").value();
    if (edge_default != "directed" && edge_default != "undirected") {
      faults_.add(
          file_.line(graph), "graph, edgedefault",
          edge_default.empty() ? "is missing" : shardscope::quoted(edge_default) + " is unknown",
          "one of directed, undirected");
    }
    const auto nodes = graph.children("node");
    const auto edges = graph.children("edge");
    if (!check_counts(static_cast<std::size_t>(std::distance(nodes.begin(), nodes.end())),
                      static_cast<std::size_t>(std::distance(edges.begin(), edges.end())),
                      faults_)) {
      return;
    }
    for (const pugi::xml_node node : nodes) {
      check_node(node);
    }
    for (const pugi::xml_node child : graph.children()) {
      const std::string_view name = child.name();
      if (name == "edge") {
        check_edge(child, edge_default == "directed");
      } else if (name == "data") {
        check_data(child, "graph");
        left_aside_.add("data", child.attribute("key").value(), "the graph");
      } else if (name == "hyperedge" || name == "graph") {
        faults_.add(file_.line(child), {}, "has a <" + std::string(name) + "> in the graph",
                    "nodes and edges between two of them");
      } else if (name != "node" && child.type() == pugi::node_element) {
        left_aside_.add("element", name, "the graph");
      }
    }
    if (defaults_ * (node_lines_.size() + edge_lines_.size()) > kMostDefaults) {
      faults_.add(0, {}, "has too many keys with a default for its nodes and edges",
                  "at most " + std::to_string(kMostDefaults) + " values by default");
    }
  }

  void check_node(pugi::xml_node node) {
    const std::string id = node.attribute("id").value();
    const std::string field = "node " + shardscope::quoted(id);
    if (id.empty()) {
      faults_.add(file_.line(node), field, "has no id");
    } else if (!nodes_.insert(id).second) {
      faults_.add(file_.line(node), field, "is declared twice");
    }
    node_lines_.push_back(file_.line(node));
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "graph") {
        faults_.add(file_.line(child), field, "has a graph inside", "nodes and edges of one graph");
      }
      check_part(child, field, "nodes");
    }
    leave_attributes_aside(node, {"id"}, "<node>");
  }

  void check_edge(pugi::xml_node edge, bool directed_by_default) {
    const std::string source = edge.attribute("source").value();
    const std::string target = edge.attribute("target").value();
    const std::string field =
        "edge " + shardscope::quoted(source) + " to " + shardscope::quoted(target);
    for (const std::string& end : {source, target}) {
      if (!nodes_.contains(end)) {
        faults_.add(file_.line(edge), field, "has the unknown end " + shardscope::quoted(end),
                    "a declared node", nearest_node(end));
      }
    }
    const std::string directed = edge.attribute("directed").value();
    if (!directed.empty() && directed != "true" && directed != "false") {
      faults_.add(file_.line(edge), field + ", directed",
                  shardscope::quoted(directed) + " is unknown", "one of true, false");
    }
    directed_.push_back(directed.empty() ? directed_by_default : directed == "true");
    edge_lines_.push_back(file_.line(edge));
    for (const pugi::xml_node child : edge.children()) {
      check_part(child, field, "edges");
    }
    leave_attributes_aside(edge, {"source", "target", "directed"}, "<edge>");
  }

  void check_part(pugi::xml_node child, const std::string& field, std::string_view of) {
    if (std::string_view(child.name()) == "data") {
      check_data(child, field);
    } else if (child.type() == pugi::node_element) {
      left_aside_.add("element", child.name(), of);
    }
  }

  void leave_attributes_aside(pugi::xml_node element, const std::set<std::string_view>& known,
                              std::string_view of) {
    for (const pugi::xml_attribute attribute : element.attributes()) {
      if (!known.contains(attribute.name())) {
        left_aside_.add("attribute", attribute.name(), of);
      }
    }
  }

  // Looking among very many names costs more than it helps.
  std::string nearest_node(const std::string& name) const {
    return nodes_.size() > 1000
               ? std::string()
               : nearest_name(name, std::vector<std::string>(nodes_.begin(), nodes_.end()));
  }

  const XmlFile& file_;
  FaultList& faults_;
  NameCounts& left_aside_;
  std::vector<pugi::xml_node> graphs_;
  std::set<std::string> keys_;
  std::set<std::pair<std::string, std::string>> key_names_;
  std::size_t defaults_ = 0;
  std::set<std::string> nodes_;
  std::vector<std::size_t> node_lines_;
  std::vector<std::size_t> edge_lines_;
  std::vector<bool> directed_;
};

// Where Boost's reader puts what it reads. It asks is_directed() before each edge.
class Receiver : public boost::mutate_graph {
 public:
  Receiver(const Check& check, NameCounts& left_aside) : check_(check), left_aside_(left_aside) {}

  bool is_directed() const override { return check_.directed()[graph_.edges.size()]; }

  boost::any do_add_vertex() override {
    graph_.nodes.push_back(
        {.name = {}, .kind = {}, .line = check_.node_lines()[graph_.nodes.size()]});
    return graph_.nodes.size() - 1;
  }

  std::pair<boost::any, bool> do_add_edge(boost::any source, boost::any target) override {
    const std::size_t index = graph_.edges.size();
    graph_.edges.push_back({.from = boost::any_cast<std::size_t>(source),
                            .to = boost::any_cast<std::size_t>(target),
                            .directed = check_.directed()[index],
                            .bandwidth = {},
                            .latency = {},
                            .kind = {},
                            .line = check_.edge_lines()[index]});
    return {index, true};
  }

  void set_graph_property(const std::string& name, const std::string&,
                          const std::string&) override {
    left_aside_.add("attribute", name, "the graph");
  }

  void set_vertex_property(const std::string& name, boost::any vertex, const std::string& value,
                           const std::string&) override {
    if (name == "kind") {
      graph_.nodes[boost::any_cast<std::size_t>(vertex)].kind = value.substr(0, kLongestValue);
    } else {
      left_aside_.add("attribute", name, "nodes");
    }
  }

  void set_edge_property(const std::string& name, boost::any edge, const std::string& value,
                         const std::string&) override {
    DescribedEdge& described = graph_.edges[boost::any_cast<std::size_t>(edge)];
    if (name == "bandwidth") {
      described.bandwidth = value.substr(0, kLongestValue);
    } else if (name == "latency") {
      described.latency = value.substr(0, kLongestValue);
    } else if (name == "kind") {
      described.kind = value.substr(0, kLongestValue);
    } else {
      left_aside_.add("attribute", name, "edges");
    }
  }

  DescribedGraph& graph() { return graph_; }

 private:
  const Check& check_;
  NameCounts& left_aside_;
  DescribedGraph graph_;
};

}  // namespace

std::optional<DescribedGraph> read_graphml(const XmlFile& file, std::string_view text,
                                           FaultList& faults, NameCounts& left_aside) {
  Check check(file, faults, left_aside);
  if (!check.run()) {
    return std::nullopt;
  }
  Receiver receiver(check, left_aside);
  try {
    std::istringstream stream{std::string(text)};
    boost::read_graphml(stream, receiver, 0);
  } catch (const std::exception& error) {
    faults.add(0, {}, "is not GraphML that can be read: " + printable(error.what()));
    return std::nullopt;
  }
  // The reader keeps the ids to itself; it adds nodes in document order.
  std::size_t index = 0;
  for (const pugi::xml_node node : file.root().child("graph").children("node")) {
    receiver.graph().nodes[index++].name = node.attribute("id").value();
  }
  return std::move(receiver.graph());
}

}  // namespace shardscope
