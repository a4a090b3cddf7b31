// The nvlink and c2c elements of an NCCL topology.
#pragma once

#include "sim/topology_files/nccl_draft.h"
#include "sim/topology_files/nccl_xml.h"

namespace shardscope {

/// Adds what they say to a node whose devices are all known. Faults: no count or class, GPUs that
/// are too old for NVLinks or whose compute capability is missing, another bandwidth there than
/// back.
void connect_nvlinks(NcclXml& xml, NcclDraft& draft);

}  // namespace shardscope
