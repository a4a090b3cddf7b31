// The elements of an NCCL topology, and what their texts mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology_files/notes.h"
#include "sim/topology_files/xml_file.h"

namespace shardscope {

enum class PciKind { device, nic, bridge, nvswitch, nvlink_bridge };

/// By class code: "0x030200".
PciKind pci_kind(std::string_view pci_class);

/// "0000:10:1c.0" as one number, so that ways of writing it are equal.
std::optional<std::uint64_t> bus_number(std::string text);

/// An integer that is not there.
inline constexpr long kNoNumber = -1;

class NcclXml {
 public:
  NcclXml(const XmlFile& file, FaultList& faults) : file_(file), faults_(faults) {}

  pugi::xml_node root() const { return file_.root(); }
  static std::vector<pugi::xml_node> elements(pugi::xml_node parent);

  /// An attribute that is a whole number from `least` to `most`; `otherwise` if it is not there,
  /// or, with a fault, if it is none.
  long integer(pugi::xml_node element, const char* name, long least, long most, long otherwise);

  void leave_aside(pugi::xml_node element);
  void leave_attributes_aside(pugi::xml_node element, const std::set<std::string_view>& known);
  NameCounts& left_aside() { return left_aside_; }

  std::size_t line(pugi::xml_node element) const { return file_.line(element); }
  FaultList& faults() { return faults_; }

 private:
  const XmlFile& file_;
  FaultList& faults_;
  NameCounts left_aside_;
};

}  // namespace shardscope
