#include "sim/scenario/field_checks.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/field_paths.h"
#include "sim/scenario/field_types.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Hides a field from the parser without moving what follows it.
void blank(std::string& text, const SourceField& field) {
  for (std::size_t i = field.begin; i < field.end; ++i) {
    if (text[i] != '\n' && text[i] != '\t') text[i] = ' ';
  }
}

// The checks of one part. Fields are named by their index in its source.
class FieldChecks {
 public:
  FieldChecks(const MessagePart& part, std::size_t index, FaultLog& faults)
      : part_(part), index_(index), faults_(faults) {}

  // Given once, and as a block, a list or a single value as its type demands.
  bool check_shape(std::size_t field, const FieldDescriptor& descriptor);

  bool check_values(std::size_t field, const FieldDescriptor& descriptor);

  void report_unknown(std::size_t field, const std::string& parent_path, const Descriptor& type);

 private:
  const MessagePart& part_;
  std::size_t index_;
  FaultLog& faults_;
};

bool FieldChecks::check_shape(std::size_t field, const FieldDescriptor& descriptor) {
  const SourceField& given = part_.source.fields[field];
  const std::string& path = part_.paths[field];
  const bool is_message = descriptor.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const auto refuse = [&](Position position, const std::string& problem, std::string allowed) {
    faults_.refuse(path);
    faults_.add(index_, position, {{}, path, problem, std::move(allowed), {}});
    return false;
  };
  if (!descriptor.is_repeated()) {
    for (std::size_t i = 0; i < field; ++i) {
      if (part_.paths[i] != path || part_.source.fields[i].parent != given.parent) continue;
      const int line = part_.source.fields[i].position.line;
      return refuse(given.position, "given more than once",
                    part_.is_argument ? "once" : "first on line " + std::to_string(line));
    }
    if (given.is_list) return refuse(given.position, "a list is not allowed", "one value");
  }
  if (given.is_block && !is_message) {
    return refuse(given.position, "a block is not allowed", describe_type(descriptor));
  }
  if (!given.is_block && is_message && !given.values.empty()) {
    const SourceValue& value = given.values.front();
    return refuse(value.position, shown(value.text) + " is not allowed", describe_type(descriptor));
  }
  return true;
}

bool FieldChecks::check_values(std::size_t field, const FieldDescriptor& descriptor) {
  const std::string& path = part_.paths[field];
  const Message* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(
      descriptor.containing_type());
  const std::unique_ptr<Message> scratch(prototype->New());
  bool good = true;
  for (const SourceValue& value : part_.source.fields[field].values) {
    if (parses_as(descriptor, value.text, *scratch)) continue;
    good = false;
    std::string nearest;
    if (descriptor.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      nearest = nearest_name(value.text, enumerator_names(descriptor));
    }
    faults_.add(
        index_, value.position,
        {{}, path, shown(value.text) + " is not allowed", describe_type(descriptor), nearest});
  }
  if (!good) faults_.refuse(path);
  return good;
}

void FieldChecks::report_unknown(std::size_t field, const std::string& parent_path,
                                 const Descriptor& type) {
  const SourceField& given = part_.source.fields[field];
  const Fault fault = unknown_field(parent_path, given.name, field_names(type));
  // What was probably meant is not missing as well.
  if (!fault.nearest.empty()) faults_.refuse(join_path(parent_path, fault.nearest));
  faults_.add(index_, given.position, fault);
}

}  // namespace

void check_fields(std::size_t index, const Descriptor& type, MessageParts& parts,
                  FaultLog& faults) {
  MessagePart& part = parts[index];
  FieldChecks checks(part, index, faults);
  const std::size_t count = part.source.fields.size();
  part.paths.assign(count, {});
  std::vector<const Descriptor*> block_types(count, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    const SourceField& field = part.source.fields[i];
    const auto parent = static_cast<std::size_t>(std::max(field.parent, 0));
    const Descriptor* block = field.parent < 0 ? &type : block_types[parent];
    if (block == nullptr) continue;
    const std::string parent_path = field.parent < 0 ? "" : part.paths[parent];
    const FieldDescriptor* descriptor = block->FindFieldByName(field.name);
    const bool good = [&] {
      if (descriptor == nullptr) {
        checks.report_unknown(i, parent_path, *block);
        return false;
      }
      part.paths[i] = join_path(parent_path, field.name);
      if (!part.is_argument && is_replaced(parts, part.paths[i])) return false;
      return checks.check_shape(i, *descriptor) && checks.check_values(i, *descriptor);
    }();
    if (good) {
      block_types[i] = descriptor->message_type();
    } else {
      part.paths[i].clear();
      blank(part.text, field);
    }
  }
}

}  // namespace shardscope
