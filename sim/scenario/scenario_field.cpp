#include "sim/scenario/scenario_field.h"

#include <google/protobuf/descriptor.h>

#include <cstdlib>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/field_types.h"
#include "sim/scenario/quantity_fields.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

using google::protobuf::FieldDescriptor;

FieldKind kind_of(const FieldDescriptor& field, bool is_quantity) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return FieldKind::block;
  if (field.is_repeated()) return FieldKind::list;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return is_quantity ? FieldKind::quantity : FieldKind::text;
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_BOOL:
      return FieldKind::choice;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FieldKind::number;
    default:
      return FieldKind::whole;
  }
}

const FieldDescriptor& descriptor_of(const std::string& path) {
  Fault ignored;
  return *find_fields(*schema::Scenario::descriptor(), path, ignored).back();
}

Fault refuse(const ScenarioField& field, const std::string& text, const std::string& allowed) {
  return {{}, field.path, shown(text) + " is not allowed", allowed, {}};
}

}  // namespace

std::optional<ScenarioField> find_scenario_field(const std::string& path, Fault& fault) {
  const auto fields = find_fields(*schema::Scenario::descriptor(), path, fault);
  if (fields.empty()) return std::nullopt;
  const std::optional<Dimension> dimension = dimension_of(path);
  return ScenarioField{path, kind_of(*fields.back(), dimension.has_value()),
                       dimension.value_or(Dimension::size)};
}

std::optional<Fault> why_no_value(const ScenarioField& field, const std::string& text) {
  if (field.kind == FieldKind::quantity) {
    const ParsedQuantity quantity = parse_quantity(field.dimension, text);
    if (quantity.value) return std::nullopt;
    return Fault{{},
                 field.path,
                 quoted(text) + " " + quantity.problem,
                 quantity.allowed,
                 quantity.nearest_unit};
  }
  if (field.kind == FieldKind::text) return std::nullopt;
  const FieldDescriptor& descriptor = descriptor_of(field.path);
  if (field.kind == FieldKind::list) {
    const bool bracketed = text.size() >= 2 && text.front() == '[' && text.back() == ']';
    if (bracketed) return std::nullopt;
    return refuse(field, text, "a list in brackets");
  }
  const auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(
      descriptor.containing_type());
  const std::unique_ptr<google::protobuf::Message> scratch(prototype->New());
  if (parses_as(descriptor, text, *scratch)) return std::nullopt;
  Fault fault = refuse(field, text, describe_type(descriptor));
  if (descriptor.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    fault.nearest = nearest_name(text, enumerator_names(descriptor));
  }
  return fault;
}

double numeric_value(const ScenarioField& field, const std::string& text) {
  if (field.kind == FieldKind::quantity) {
    return parse_quantity(field.dimension, text).value.value_or(0);
  }
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace shardscope
