// FIELD=VALUE arguments that replace fields of a message.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/fault_log.h"
#include "sim/scenario/message_parts.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace shardscope {

/// FIELD=VALUE of the command line: replaces whatever a file says about FIELD. VALUE is in text
/// format; strings need no quotes and lists no brackets.
struct Override {
  std::string argument;    ///< As faults show it: "--set training.steps=5".
  std::string assignment;  ///< "training.steps=5"
};

/// Appends a part per override, its value wrapped into the blocks of its field. Parts that are
/// faulty or replaced by a later one have no path.
void read_overrides(const std::vector<Override>& overrides,
                    const google::protobuf::Descriptor& type, MessageParts& parts,
                    FaultLog& faults);

/// Whether an argument's checked text gives its field once and nothing else. Guards against values
/// that close their block: "5 } cluster { world_size: 3".
bool holds_only_its_field(const MessagePart& part);

}  // namespace shardscope
