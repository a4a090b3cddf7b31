#include "sim/topology_files/topology_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include "sim/text/file_text.h"
#include "sim/text/printable.h"
#include "sim/topology_files/dot.h"
#include "sim/topology_files/graphml.h"
#include "sim/topology_files/nccl.h"
#include "sim/topology_files/xml_file.h"

namespace shardscope {
namespace {

constexpr const char* kAccepted =
    "a SimGrid platform (<platform>), an NCCL topology (<system>), GraphML (<graphml>) or "
    "Graphviz DOT (graph, digraph)";

// Takes white space and comments off a DOT text's begin.
std::string_view without_comments(std::string_view text) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\f\v");
    text.remove_prefix(std::min(begin, text.size()));
    std::size_t end = 0;
    if (text.starts_with("//") || text.starts_with("#")) {
      end = text.find('\n');
    } else if (text.starts_with("/*")) {
      end = text.find("*/", 2);
      end = end == std::string_view::npos ? end : end + 2;
    } else {
      return text;
    }
    text.remove_prefix(std::min(end, text.size()));
  }
}

bool is_dot(std::string_view text) {
  text = without_comments(text);
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  std::string word(text.begin(), end);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "graph" || word == "digraph" || word == "strict";
}

bool is_xml(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<';
}

std::optional<FileKind> kind_of_root(const XmlFile& xml, FaultList& faults) {
  const std::string_view root = xml.root().name();
  if (root == "platform") return FileKind::simgrid;
  if (root == "system") return FileKind::nccl;
  if (root == "graphml") return FileKind::graphml;
  if (root == "graphs") {
    faults.add(xml.line(xml.root()), {},
               "is an NCCL graph file: it holds the rings and trees of a search, not the machine",
               "an NCCL topology, as NCCL_TOPO_DUMP_FILE writes it");
  } else {
    faults.add(xml.line(xml.root()), {}, "is XML of the unknown kind <" + shown(root) + ">",
               kAccepted);
  }
  return std::nullopt;
}

// A file as far as its kind is known. `xml` is null for DOT.
struct Opened {
  FileKind kind = FileKind::dot;
  std::string text;
  std::unique_ptr<XmlFile> xml;
};

std::optional<Opened> open(const std::string& path, FaultList& faults) {
  std::optional<std::string> text = read_topology_text(path, faults);
  if (!text.has_value()) {
    return std::nullopt;
  }
  Opened opened;
  opened.text = std::move(*text);
  if (is_xml(opened.text)) {
    opened.xml = XmlFile::parse(opened.text, faults);
    const std::optional<FileKind> kind =
        opened.xml == nullptr ? std::nullopt : kind_of_root(*opened.xml, faults);
    opened.kind = kind.value_or(FileKind::dot);
  } else if (!is_dot(opened.text)) {
    faults.add(0, {}, "is no description of a cluster that is known", kAccepted);
  }
  return faults.empty() ? std::optional(std::move(opened)) : std::nullopt;
}

void read_graph(const Opened& opened, FaultList& faults, TopologyFile& file) {
  NameCounts left_aside;
  const std::optional<DescribedGraph> graph =
      opened.kind == FileKind::graphml ? read_graphml(*opened.xml, opened.text, faults, left_aside)
                                       : read_dot(opened.text, faults, left_aside);
  if (!graph.has_value()) {
    return;
  }
  std::optional<Topology> topology = make_topology(*graph, faults, file.notes);
  if (topology.has_value()) {
    file.topology = std::move(*topology);
  }
  left_aside.append_to(file.notes.left_aside);
}

void read_node(const Opened& opened, FaultList& faults, TopologyFile& file) {
  file.nccl_node = read_nccl(*opened.xml, faults, file.notes);
  if (!file.nccl_node.has_value()) {
    return;
  }
  NodeEndpoints endpoints;
  std::vector<std::string> all = add_nccl_nodes(file.topology, 1, *file.nccl_node, endpoints);
  if (all.empty()) {
    all = file.topology.check();
  }
  for (std::string& fault : all) {
    faults.add(0, {}, std::move(fault));
  }
}

}  // namespace

std::string name(FileKind kind) {
  constexpr std::array<const char*, 4> kNames = {"a SimGrid platform", "an NCCL topology",
                                                 "GraphML", "Graphviz DOT"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<FileKind> topology_file_kind(const std::string& path, std::vector<Fault>& faults) {
  FaultList list(path, faults);
  const std::optional<Opened> opened = open(path, list);
  return opened.has_value() ? std::optional(opened->kind) : std::nullopt;
}

std::optional<TopologyFile> read_topology_file(const std::string& path,
                                               std::vector<Fault>& faults) {
  FaultList list(path, faults);
  const std::optional<Opened> opened = open(path, list);
  if (!opened.has_value()) {
    return std::nullopt;
  }
  TopologyFile file;
  file.kind = opened->kind;
  if (file.kind == FileKind::nccl) {
    read_node(*opened, list, file);
  } else if (file.kind != FileKind::simgrid) {
    read_graph(*opened, list, file);
  }
  return list.empty() ? std::optional(std::move(file)) : std::nullopt;
}

}  // namespace shardscope
