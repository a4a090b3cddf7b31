#include "sim/topology_files/xml_file.h"

#include <algorithm>
#include <set>

#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostParts = 2'000'000;
constexpr unsigned kOptions = pugi::parse_default | pugi::parse_doctype;

// Elements and attributes, or more: each needs one of these.
std::size_t most_parts(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c == '<' || c == '='; }));
}

std::string twice_in(pugi::xml_node element) {
  std::set<std::string_view> names;
  for (const pugi::xml_attribute attribute : element.attributes()) {
    if (!names.insert(attribute.name()).second) {
      return attribute.name();
    }
  }
  return {};
}

class Checker : public pugi::xml_tree_walker {
 public:
  Checker(const XmlFile& file, FaultList& faults) : file_(file), faults_(faults) {}

  bool for_each(pugi::xml_node& node) override {
    if (node.type() != pugi::node_element) {
      return true;
    }
    if (depth() >= kDeepest) {
      faults_.add(file_.line(node), {}, "nests too deep",
                  "at most " + std::to_string(kDeepest) + " levels");
      return false;
    }
    if (const std::string name = twice_in(node); !name.empty()) {
      faults_.add(file_.line(node), {},
                  "has the attribute " + quoted(name) + " twice in <" + shown(node.name()) + ">");
    }
    return true;
  }

 private:
  const XmlFile& file_;
  FaultList& faults_;
};

void check_document(const pugi::xml_document& document, const XmlFile& file, FaultList& faults) {
  std::size_t roots = 0;
  for (const pugi::xml_node node : document.children()) {
    if (node.type() == pugi::node_doctype &&
        std::string_view(node.value()).find('[') != std::string_view::npos) {
      faults.add(0, {}, "has a DOCTYPE with declarations of its own (entities), which are not read",
                 "a plain DOCTYPE or none");
    }
    if (node.type() == pugi::node_element && ++roots == 2) {
      faults.add(file.line(node), {}, "has a second root element, <" + shown(node.name()) + ">",
                 "one root element");
    }
  }
}

}  // namespace

std::unique_ptr<XmlFile> XmlFile::parse(std::string_view text, FaultList& faults) {
  if (most_parts(text) > kMostParts) {
    faults.add(0, {}, "has too many elements and attributes",
               "at most " + std::to_string(kMostParts));
    return nullptr;
  }
  std::unique_ptr<XmlFile> file(new XmlFile(text));
  const pugi::xml_parse_result result =
      file->document_.load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8);
  if (!result) {
    const auto [line, column] = file->lines_.place(static_cast<std::size_t>(result.offset));
    faults.add_at(line, column, {}, std::string("is not well-formed XML: ") + result.description());
    return nullptr;
  }
  check_document(file->document_, *file, faults);
  Checker checker(*file, faults);
  file->document_.traverse(checker);
  return faults.empty() ? std::move(file) : nullptr;
}

std::size_t XmlFile::line(pugi::xml_node element) const {
  const std::ptrdiff_t offset = element.offset_debug();
  return offset < 0 ? 0 : lines_.place(static_cast<std::size_t>(offset)).line;
}

bool XmlFile::names_dtd() const {
  const auto children = document_.children();
  return std::any_of(children.begin(), children.end(),
                     [](const pugi::xml_node& node) { return node.type() == pugi::node_doctype; });
}

}  // namespace shardscope
