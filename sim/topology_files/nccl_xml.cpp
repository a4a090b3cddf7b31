#include "sim/topology_files/nccl_xml.h"

#include <charconv>

#include "sim/text/printable.h"

namespace shardscope {

PciKind pci_kind(std::string_view pci_class) {
  if (pci_class.starts_with("0x068001")) return PciKind::nvlink_bridge;
  if (pci_class.starts_with("0x0680")) return PciKind::nvswitch;
  if (pci_class.starts_with("0x03")) return PciKind::device;
  if (pci_class.starts_with("0x02")) return PciKind::nic;
  return PciKind::bridge;
}

std::optional<std::uint64_t> bus_number(std::string text) {
  std::erase_if(text, [](char c) { return c == ':' || c == '.'; });
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::vector<pugi::xml_node> NcclXml::elements(pugi::xml_node parent) {
  std::vector<pugi::xml_node> all;
  for (const pugi::xml_node child : parent.children()) {
    if (child.type() == pugi::node_element) {
      all.push_back(child);
    }
  }
  return all;
}

long NcclXml::integer(pugi::xml_node element, const char* name, long least, long most,
                      long otherwise) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (attribute.empty()) {
    return otherwise;
  }
  const std::string_view text = attribute.value();
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    faults_.add(file_.line(element), std::string(element.name()) + ", " + name,
                quoted(text) + " is not allowed",
                "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
  }
  return value;
}

void NcclXml::leave_aside(pugi::xml_node element) {
  left_aside_.add("element", element.name(), "<" + shown(element.parent().name()) + ">");
}

void NcclXml::leave_attributes_aside(pugi::xml_node element,
                                     const std::set<std::string_view>& known) {
  for (const pugi::xml_attribute attribute : element.attributes()) {
    if (!known.contains(attribute.name())) {
      left_aside_.add("attribute", attribute.name(), "<" + shown(element.name()) + ">");
    }
  }
}

}  // namespace shardscope
