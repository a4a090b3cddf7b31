// Checks of a message's fields one by one, before Protobuf's parser, which stops at the first
// error.
#pragma once

#include <cstddef>

#include "sim/scenario/fault_log.h"
#include "sim/scenario/message_parts.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace shardscope {

/// Reports the unknown and repeated fields of parts[index], and those whose values are not of their
/// type, and blanks them in its text, so that the parser goes on to other errors. Sets the paths of
/// the others. The file's fields that an argument replaces are blanked unchecked.
void check_fields(std::size_t index, const google::protobuf::Descriptor& type, MessageParts& parts,
                  FaultLog& faults);

}  // namespace shardscope
