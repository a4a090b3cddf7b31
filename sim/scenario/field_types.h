// What the fields of a Protobuf message take, in words and by trying.
#pragma once

#include <string>
#include <vector>

#include "sim/text/fault.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace shardscope {

std::vector<std::string> field_names(const google::protobuf::Descriptor& type);

std::vector<std::string> enumerator_names(const google::protobuf::FieldDescriptor& field);

/// "a number", "one of FP32, BF16, FP16". A field's range is for others to judge.
std::string describe_type(const google::protobuf::FieldDescriptor& field);

/// Whether the text is a value of the field's type. `scratch`, of the type the field is in, is
/// overwritten.
bool parses_as(const google::protobuf::FieldDescriptor& field, const std::string& text,
               google::protobuf::Message& scratch);

/// The fault that `name` is none of the names in the block `parent_path`; its place is not set.
Fault unknown_field(const std::string& parent_path, const std::string& name,
                    const std::vector<std::string>& names);

/// The fields along a path, the outermost first; none, and the fault without its place, if there is
/// no such path or it leads into a block that may be given several times.
std::vector<const google::protobuf::FieldDescriptor*> find_fields(
    const google::protobuf::Descriptor& root, const std::string& path, Fault& fault);

}  // namespace shardscope
