// XML that is not trusted: parsed, checked and with its lines known.
#pragma once

#include <cstddef>
#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "sim/text/fault_list.h"
#include "sim/text/file_text.h"

namespace shardscope {

class XmlFile {
 public:
  /// Null and a fault with its line if the text is not one well-formed element, declares entities
  /// or an internal DTD subset (nothing is fetched or expanded), nests deeper than 64 levels, or
  /// has more than two million elements and attributes, or an attribute twice.
  static std::unique_ptr<XmlFile> parse(std::string_view text, FaultList& faults);

  pugi::xml_node root() const { return document_.document_element(); }

  /// Visits all nodes, however deep, without recursion.
  void walk(pugi::xml_tree_walker& walker) const { root().traverse(walker); }

  /// Where the element's name is.
  std::size_t line(pugi::xml_node element) const;

  /// Whether there is a document type that names an external DTD, which is not read.
  bool names_dtd() const;

 private:
  explicit XmlFile(std::string_view text) : lines_(text) {}

  LineIndex lines_;
  pugi::xml_document document_;
};

}  // namespace shardscope
