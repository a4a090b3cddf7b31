#include "sim/scenario/overrides.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/scenario/field_paths.h"
#include "sim/scenario/field_types.h"
#include "sim/text/printable.h"
#include "sim/text/text_file.h"

namespace shardscope {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// An override's value as a field of a text-format file.
std::string field_text(const FieldDescriptor& field, const std::string& value) {
  const char first = value.empty() ? '\0' : value.front();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return field.name() + (first == '{' ? " " + value : " { " + value + "\n}");
  }
  if (field.is_repeated())
    return field.name() + ": " + (first == '[' ? value : "[" + value + "\n]");
  const bool is_bare_string =
      field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && first != '"' && first != '\'';
  return field.name() + ": " + (is_bare_string ? quote(value) : value);
}

// Text may be empty, lists and blocks too.
bool needs_value(const FieldDescriptor& field) {
  return !field.is_repeated() && field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

// Fills in what parts[index] replaces: a.b=V becomes "a {\nb: V\n}\n". Leaves it alone on a fault.
void read_assignment(const std::string& assignment, const Descriptor& type, std::size_t index,
                     MessagePart& part, FaultLog& faults) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || find_non_text(assignment)) {
    faults.add(index, {}, {{}, {}, "is not FIELD=VALUE", "for example training.steps=5", {}});
    return;
  }
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  Fault fault;
  const std::vector<const FieldDescriptor*> fields = find_fields(type, path, fault);
  if (fields.empty()) {
    faults.add(index, {}, fault);
    return;
  }
  const FieldDescriptor& last = *fields.back();
  if (needs_value(last) && value.find_first_not_of(' ') == std::string::npos) {
    faults.add(index, {}, {{}, path, "no value", describe_type(last), {}});
    return;
  }
  part.path = path;
  part.text = field_text(last, value) + "\n";
  for (auto outer = fields.rbegin() + 1; outer != fields.rend(); ++outer) {
    part.text = (*outer)->name() + " {\n" + part.text + "}\n";
  }
}

// The last override of a field wins, and with it goes whatever was wrong with those before.
void drop_replaced(MessageParts& parts) {
  for (std::size_t i = kFilePart + 1; i < parts.size(); ++i) {
    for (std::size_t later = i + 1; later < parts.size() && !parts[i].path.empty(); ++later) {
      const std::string& outer = parts[later].path;
      if (!outer.empty() && covers(outer, parts[i].path)) parts[i].path.clear();
    }
  }
}

}  // namespace

void read_overrides(const std::vector<Override>& overrides, const Descriptor& type,
                    MessageParts& parts, FaultLog& faults) {
  for (const Override& replacement : overrides) {
    MessagePart part;
    part.name = shown(replacement.argument);
    part.is_argument = true;
    read_assignment(replacement.assignment, type, parts.size(), part, faults);
    parts.push_back(std::move(part));
  }
  drop_replaced(parts);
}

bool holds_only_its_field(const MessagePart& part) {
  std::size_t occurrences = 0;
  for (const std::string& path : part.paths) {
    if (path == part.path) ++occurrences;
    if (!path.empty() && !covers(path, part.path) && !covers(part.path, path)) return false;
  }
  return occurrences <= 1;
}

}  // namespace shardscope
