#include "sim/scenario/field_paths.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdio>
#include <cstdlib>

namespace shardscope {

using google::protobuf::Message;

std::string join_path(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

bool covers(std::string_view outer, std::string_view path) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '.');
}

Leaf find_leaf(const Message& root, std::string_view path) {
  const Message* message = &root;
  for (;;) {
    const std::size_t dot = path.find('.');
    const auto* field = message->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
    if (field == nullptr) {
      std::fprintf(stderr, "no field %s in %s\n", std::string(path).c_str(),
                   message->GetDescriptor()->full_name().c_str());
      std::abort();
    }
    if (dot == std::string_view::npos) return {message, field};
    message = &message->GetReflection()->GetMessage(*message, field);
    path.remove_prefix(dot + 1);
  }
}

void clear_field(Message& root, std::string_view path) {
  Message* message = &root;
  for (;;) {
    const std::size_t dot = path.find('.');
    const auto* field = message->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
    if (dot == std::string_view::npos) return message->GetReflection()->ClearField(message, field);
    message = message->GetReflection()->MutableMessage(message, field);
    path.remove_prefix(dot + 1);
  }
}

}  // namespace shardscope
