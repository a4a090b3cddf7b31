// Fields of a Protobuf message by their paths: "cluster.link.bandwidth".
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace shardscope {

/// "cluster" and "link" as "cluster.link"; a field at the top has no parent ("").
std::string join_path(const std::string& parent, const std::string& name);

/// Whether `path` is `outer` or a field in it.
bool covers(std::string_view outer, std::string_view path);

/// The message that holds the last field of a path, and that field.
struct Leaf {
  const google::protobuf::Message* message;
  const google::protobuf::FieldDescriptor* field;
};

/// Aborts if the message's type has no such path.
Leaf find_leaf(const google::protobuf::Message& root, std::string_view path);

/// Unsets the field of an existing path.
void clear_field(google::protobuf::Message& root, std::string_view path);

}  // namespace shardscope
