// What NCCL's topology files leave to tables: bandwidths in bytes/s, one direction.
#pragma once

#include <optional>
#include <string>

namespace shardscope {

/// Of one lane, from a speed as Linux writes it ("16 GT/s", "16.0 GT/s PCIe"); nothing if no PCIe
/// generation has that speed. The bits that are data:
///
///     2.5 and 5 GT/s       8b/10b        speed 8/10
///     8, 16 and 32 GT/s    128b/130b     speed 128/130
///     64 GT/s              FLIT          speed 236/256 (bytes of a flit that carry packets)
std::optional<double> pcie_lane_bytes_per_s(const std::string& speed);

/// Of one NVLink of a GPU of compute capability major 10 + minor; nothing below 60. What NCCL
/// counts on (SM60_NVLINK_BW and on, src/graph/topo.h, github.com/NVIDIA/nccl, commit 5067397).
std::optional<double> nvlink_bytes_per_s(long sm);

struct CpuModel {
  std::string arch;    ///< "x86_64", "arm64", "ppc64"
  std::string vendor;  ///< Of x86_64: "GenuineIntel", "AuthenticAMD", ...
  long family = 0;
  long model = 0;
};

/// Between two sockets (ncclTopoGetInterCpuBw, src/graph/topo.cc; of AMD's newer families as in
/// commit 069a3d4); nothing for CPUs that it does not know.
std::optional<double> socket_bytes_per_s(const CpuModel& cpu);

}  // namespace shardscope
