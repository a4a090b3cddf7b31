// A node while it is read: parts in document order, without names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/topology_files/nccl_node.h"
#include "sim/topology_files/nccl_xml.h"

namespace shardscope {

/// NCCL's LOC_BW, of what is in one chip.
inline constexpr double kOnChipBytesPerS = 5000e9;

struct NcclDraft {
  struct Device {
    std::size_t part = 0;
    std::size_t host = 0;  ///< The host bridge it is below, a part.
    std::uint64_t bus = 0;
    pugi::xml_node gpu;  ///< May be empty.
    std::string name;    ///< For faults.
    long rank = kNoNumber;
    long dev = kNoNumber;
  };
  struct Nic {
    std::size_t part = 0;
    NcclNode::Nic nic;
    long dev = kNoNumber;
  };
  struct Cpu {
    std::size_t part = 0;
    pugi::xml_node element;
  };

  std::vector<NodeKind> parts;
  std::vector<NcclNode::Cable> cables;
  std::vector<Device> devices;
  std::vector<Nic> nics;
  std::vector<std::size_t> bridges;
  std::vector<Cpu> cpus;
  std::optional<std::size_t> nvswitch;
  std::size_t links_by_default = 0;  ///< PCIe links without a speed or a width.

  std::size_t add_part(NodeKind kind);
  void add_cable(std::size_t a, std::size_t b, LinkKind kind, double bandwidth_bytes_per_s);
};

/// The node: devices and NICs in their order, all parts with their names. Says what was understood.
NcclNode finish(NcclDraft& draft, TopologyNotes& notes);

}  // namespace shardscope
