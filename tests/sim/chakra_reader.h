// Chakra execution traces read back as ASTRA-sim reads them, and checked for what it silently takes
// amiss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/chakra/et_def.pb.h"
#include "sim/text/fault.h"

namespace shardscope::testing {

struct ChakraTrace {
  ChakraProtoMsg::GlobalMetadata metadata;
  std::vector<ChakraProtoMsg::Node> nodes;
};

/// Reads a file's content. Every fault goes to `faults`, its place "NAME: byte B", that of the
/// message's length: one that is cut or no message, after which nothing can be read; an id that is
/// taken; a dependency on a node that does not come before; an attribute twice, of the wrong type
/// or missing; a node type or collective that has no place in a trace of a training.
ChakraTrace read_chakra(const std::string& name, std::string_view content,
                        std::vector<Fault>& faults);

/// The node's attribute; null if it has none of the name.
const ChakraProtoMsg::AttributeProto* find_attribute(const ChakraProtoMsg::Node& node,
                                                     std::string_view name);

/// Those of a node that read_chakra() found in order.
std::int64_t comm_type(const ChakraProtoMsg::Node& node);
std::int64_t comm_size(const ChakraProtoMsg::Node& node);

/// "" for all ranks.
std::string pg_name(const ChakraProtoMsg::Node& node);

}  // namespace shardscope::testing
