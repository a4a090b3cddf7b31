// NCCL's topology files, as NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads them.
//
//   cpu      a NUMA node: a host bridge; sockets are joined each to each (socket_bytes_per_s())
//   pci      by class, 0x03...: a device; 0x02...: a NIC; others: a PCIe switch or bridge, but
//            0x0680...: left aside. A link of link_width lanes of link_speed to what it is in;
//            where the machine did not say, 16 lanes and 8 GT/s, as NCCL has it. One without a
//            class and with nothing inside, as in files written by hand: a device
//   gpu      rank, else dev: the order of devices, if all have it; document order otherwise
//   nvlink   count links to target; by tclass, 0x068001: the host bridge; 0x03...: a GPU, which
//   must
//            list as many back; others: the node's one NVSwitch. A link's bandwidth follows from sm
//   c2c      count links of bw MB/s to the host bridge
//   nic, net a NIC's ports, in the order of dev; speed in Mbit/s. Several ports share the PCIe link
//
// Latencies are 0.
#pragma once

#include <optional>

#include "sim/topology_files/nccl_node.h"
#include "sim/topology_files/notes.h"
#include "sim/topology_files/xml_file.h"

namespace shardscope {

/// The node, or nothing and all that is wrong: no device, unknown classes, speeds, compute
/// capabilities or CPUs, bus ids that are taken twice or no bus ids, several hosts in one file.
std::optional<NcclNode> read_nccl(const XmlFile& file, FaultList& faults, TopologyNotes& notes);

}  // namespace shardscope
