#include "sim/scenario/field_types.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "sim/scenario/field_paths.h"
#include "sim/scenario/first_error.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Numbers of enumerators are legal text format, but tell a reader nothing.
bool is_number(const std::string& text) {
  return !text.empty() && (text[0] == '-' || std::isdigit(static_cast<unsigned char>(text[0])));
}

}  // namespace

std::vector<std::string> field_names(const Descriptor& type) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(type.field_count()));
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

std::vector<std::string> enumerator_names(const FieldDescriptor& field) {
  std::vector<std::string> names;
  const auto* type = field.enum_type();
  names.reserve(static_cast<std::size_t>(type->value_count()));
  for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
  return names;
}

std::string describe_type(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "a block { } of " + one_of(field_names(*field.message_type())).substr(7);
    case FieldDescriptor::CPPTYPE_ENUM:
      return one_of(enumerator_names(field));
    case FieldDescriptor::CPPTYPE_STRING:
      return "text in quotes";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    default:
      return "a whole number up to 9223372036854775807";
  }
}

bool parses_as(const FieldDescriptor& field, const std::string& text, Message& scratch) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM && is_number(text)) return false;
  FirstError ignored;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&ignored);
  scratch.Clear();
  return parser.ParseFieldValueFromString(text, &field, &scratch);
}

Fault unknown_field(const std::string& parent_path, const std::string& name,
                    const std::vector<std::string>& names) {
  return {{},
          join_path(parent_path, shown(name)),
          "unknown field",
          names.empty() ? "" : one_of(names),
          nearest_name(name, names)};
}

std::vector<const FieldDescriptor*> find_fields(const Descriptor& root, const std::string& path,
                                                Fault& fault) {
  std::vector<const FieldDescriptor*> fields;
  std::string known;
  const Descriptor* type = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const FieldDescriptor* field = type == nullptr ? nullptr : type->FindFieldByName(name);
    if (field == nullptr) {
      const auto names = type == nullptr ? std::vector<std::string>{} : field_names(*type);
      fault = unknown_field(known, name, names);
      return {};
    }
    fields.push_back(field);
    known = join_path(known, name);
    type = field->message_type();
    begin = end + 1;
    if (field->is_repeated() && type != nullptr && begin <= path.size()) {
      fault = {{}, known, "may be given several times", "all of them together", {}};
      return {};
    }
  }
  return fields;
}

}  // namespace shardscope
