#include "sim/scenario/message_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <utility>

#include "sim/scenario/text_file.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr std::size_t kFile = 0;  // The part that is the file.

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    line_ = line;
    column_ = column;
    message_ = message;
  }

  int line() const { return line_; }
  int column() const { return column_; }
  const std::string& message() const { return message_; }

 private:
  int line_ = 0;
  int column_ = 0;
  std::string message_;
};

bool covers(std::string_view outer, std::string_view path) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '.');
}

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

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

// What a field of this type takes. Its range is for others to judge.
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

// Numbers of enumerators are legal text format, but tell a reader nothing.
bool is_number(const std::string& text) {
  return !text.empty() && (text[0] == '-' || std::isdigit(static_cast<unsigned char>(text[0])));
}

bool parses_as(const FieldDescriptor& field, const std::string& text, Message& scratch) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM && is_number(text)) return false;
  FirstError ignored;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&ignored);
  scratch.Clear();
  return parser.ParseFieldValueFromString(text, &field, &scratch);
}

// Hides a field from the parser without moving what follows it.
void blank(std::string& text, const SourceField& field) {
  for (std::size_t i = field.begin; i < field.end; ++i) {
    if (text[i] != '\n' && text[i] != '\t') text[i] = ' ';
  }
}

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

// The place of `path` in a message: the message that holds its last field, and that field.
struct Leaf {
  const Message* message;
  const FieldDescriptor* field;
};

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

Fault unknown_field(const std::string& parent_path, const std::string& name,
                    const std::vector<std::string>& names) {
  return {{},
          join(parent_path, shown(name)),
          "unknown field",
          names.empty() ? "" : one_of(names),
          nearest_name(name, names)};
}

}  // namespace

MessageText::MessageText(std::string file, std::string text, const std::vector<Override>& overrides,
                         Message& message)
    : message_(message) {
  parts_.push_back({std::move(file), false, {}, std::move(text), {}, {}});
  read_overrides(overrides);
  parse(kFile, message_);
  for (std::size_t i = 1; i < parts_.size(); ++i) merge_override(i);
}

// ---- Overrides ----

void MessageText::read_overrides(const std::vector<Override>& overrides) {
  for (const Override& replacement : overrides) {
    Part part;
    part.name = shown(replacement.argument);
    part.is_argument = true;
    parts_.push_back(part);
    if (read_override(replacement, part)) {
      parts_.back() = std::move(part);
    }
  }
  drop_replaced_overrides();
}

// Wraps the value into the blocks of its field: a.b=V becomes "a {\nb: V\n}\n".
bool MessageText::read_override(const Override& replacement, Part& part) {
  const std::size_t index = parts_.size() - 1;
  const std::string& assignment = replacement.assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || find_non_text(assignment)) {
    add(index, {}, {{}, {}, "is not FIELD=VALUE", "for example training.steps=5", {}});
    return false;
  }
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  const std::vector<const FieldDescriptor*> fields = find_fields(index, path);
  if (fields.empty()) return false;
  const FieldDescriptor& last = *fields.back();
  if (needs_value(last) && value.find_first_not_of(' ') == std::string::npos) {
    add(index, {}, {{}, path, "no value", describe_type(last), {}});
    return false;
  }
  part.path = path;
  part.text = field_text(last, value) + "\n";
  for (auto outer = fields.rbegin() + 1; outer != fields.rend(); ++outer) {
    part.text = (*outer)->name() + " {\n" + part.text + "}\n";
  }
  return true;
}

// The fields along a path; none, and a fault, if there is no such path.
std::vector<const FieldDescriptor*> MessageText::find_fields(std::size_t index,
                                                             const std::string& path) {
  std::vector<const FieldDescriptor*> fields;
  std::string known;
  const Descriptor* type = message_.GetDescriptor();
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const FieldDescriptor* field = type == nullptr ? nullptr : type->FindFieldByName(name);
    if (field == nullptr) {
      const auto names = type == nullptr ? std::vector<std::string>{} : field_names(*type);
      add(index, {}, unknown_field(known, name, names));
      return {};
    }
    fields.push_back(field);
    known = join(known, name);
    type = field->message_type();
    begin = end + 1;
  }
  return fields;
}

// The last override of a field wins, and with it goes whatever was wrong with those before.
void MessageText::drop_replaced_overrides() {
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    for (std::size_t later = i + 1; later < parts_.size() && !parts_[i].path.empty(); ++later) {
      const std::string& outer = parts_[later].path;
      if (!outer.empty() && covers(outer, parts_[i].path)) parts_[i].path.clear();
    }
  }
}

void MessageText::merge_override(std::size_t index) {
  if (parts_[index].path.empty()) return;
  const std::unique_ptr<Message> changes(message_.New());
  parse(index, *changes);
  clear_field(message_, parts_[index].path);
  message_.MergeFrom(*changes);
}

// Guards against values that close their block: "5 } cluster { world_size: 3".
bool MessageText::holds_only_its_field(const Part& part) const {
  std::size_t occurrences = 0;
  for (const std::string& path : part.paths) {
    if (path == part.path) ++occurrences;
    if (!path.empty() && !covers(path, part.path) && !covers(part.path, path)) return false;
  }
  return occurrences <= 1;
}

// ---- Parsing ----

void MessageText::parse(std::size_t index, Message& message) {
  parts_[index].source = scan_source(parts_[index].text);
  const Source& source = parts_[index].source;
  if (source.deepest > kDeepestNesting) {
    const std::string allowed = "at most " + std::to_string(kDeepestNesting) + " levels";
    add(index, source.too_deep, {{}, {}, "nested too deeply", allowed, {}});
    is_complete_ = false;
    return;
  }
  check_fields(index, message);
  if (parts_[index].is_argument && !holds_only_its_field(parts_[index])) {
    add(index, {}, {{}, parts_[index].path, "more than one value", "one value", {}});
    return;
  }
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kDeepestNesting);
  if (parser.ParseFromString(parts_[index].text, &message)) return;
  report_syntax(index, position_of_token(parts_[index].text, error.line(), error.column()),
                error.message());
}

// Reports what is wrong with single fields and blanks them, so that the parser, which stops at the
// first error, goes on to the others.
void MessageText::check_fields(std::size_t index, const Message& message) {
  Part& part = parts_[index];
  const std::size_t count = part.source.fields.size();
  part.paths.assign(count, {});
  std::vector<const Descriptor*> block_types(count, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    const SourceField& field = part.source.fields[i];
    const auto parent = static_cast<std::size_t>(std::max(field.parent, 0));
    const Descriptor* type = field.parent < 0 ? message.GetDescriptor() : block_types[parent];
    if (type == nullptr) continue;
    const std::string parent_path = field.parent < 0 ? "" : part.paths[parent];
    const FieldDescriptor* descriptor = type->FindFieldByName(field.name);
    const bool good = [&] {
      if (descriptor == nullptr) {
        report_unknown(index, i, parent_path, field_names(*type));
        return false;
      }
      part.paths[i] = join(parent_path, field.name);
      if (!part.is_argument && is_replaced(part.paths[i])) return false;
      return check_shape(index, i, *descriptor) && check_values(index, i, *descriptor);
    }();
    if (good) {
      block_types[i] = descriptor->message_type();
    } else {
      part.paths[i].clear();
      blank(part.text, field);
    }
  }
}

bool MessageText::is_replaced(const std::string& path) const {
  return std::any_of(parts_.begin() + 1, parts_.end(), [&](const Part& part) {
    return !part.path.empty() && covers(part.path, path);
  });
}

// Given once, and as a block, a list or a single value as its type demands.
bool MessageText::check_shape(std::size_t index, std::size_t field,
                              const FieldDescriptor& descriptor) {
  const Part& part = parts_[index];
  const SourceField& given = part.source.fields[field];
  const std::string& path = part.paths[field];
  const bool is_message = descriptor.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const auto refuse = [&](Position position, const std::string& problem, std::string allowed) {
    refused_.push_back(path);
    add(index, position, {{}, path, problem, std::move(allowed), {}});
    return false;
  };
  if (!descriptor.is_repeated()) {
    for (std::size_t i = 0; i < field; ++i) {
      if (part.paths[i] != path || part.source.fields[i].parent != given.parent) continue;
      const int line = part.source.fields[i].position.line;
      return refuse(given.position, "given more than once",
                    part.is_argument ? "once" : "first on line " + std::to_string(line));
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

bool MessageText::check_values(std::size_t index, std::size_t field,
                               const FieldDescriptor& descriptor) {
  const Part& part = parts_[index];
  const std::string& path = part.paths[field];
  const Message* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(
      descriptor.containing_type());
  const std::unique_ptr<Message> scratch(prototype->New());
  bool good = true;
  for (const SourceValue& value : part.source.fields[field].values) {
    if (parses_as(descriptor, value.text, *scratch)) continue;
    good = false;
    std::string nearest;
    if (descriptor.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      nearest = nearest_name(value.text, enumerator_names(descriptor));
    }
    add(index, value.position,
        {{}, path, shown(value.text) + " is not allowed", describe_type(descriptor), nearest});
  }
  if (!good) refused_.push_back(path);
  return good;
}

void MessageText::report_unknown(std::size_t index, std::size_t field,
                                 const std::string& parent_path,
                                 const std::vector<std::string>& names) {
  const SourceField& given = parts_[index].source.fields[field];
  const Fault fault = unknown_field(parent_path, given.name, names);
  // What was probably meant is not missing as well.
  if (!fault.nearest.empty()) refused_.push_back(join(parent_path, fault.nearest));
  add(index, given.position, fault);
}

void MessageText::report_syntax(std::size_t index, Position position, std::string message) {
  is_complete_ = false;
  if (message.ends_with(".")) message.pop_back();
  if (message.ends_with("got: ")) message += "the end";
  if (message.ends_with("found \"\"")) message.replace(message.size() - 2, 2, "the end");
  // Faults behind the error may only be its consequences.
  std::erase_if(faults_, [&](const PlacedFault& other) {
    return other.part == index && std::tie(other.position.line, other.position.column) >
                                      std::tie(position.line, position.column);
  });
  const std::string path = parts_[index].path;
  if (!path.empty()) refused_.push_back(path);
  add(index, position,
      {{}, path, "syntax error: " + lower(message.substr(0, 1)) + message.substr(1), {}, {}});
}

// ---- Values ----

bool MessageText::has(std::string_view path) const {
  const Leaf leaf = find_leaf(message_, path);
  return leaf.message->GetReflection()->HasField(*leaf.message, leaf.field);
}

int MessageText::count(std::string_view path) const {
  const Leaf leaf = find_leaf(message_, path);
  return leaf.message->GetReflection()->FieldSize(*leaf.message, leaf.field);
}

double MessageText::number(std::string_view path) const {
  const Leaf leaf = find_leaf(message_, path);
  return leaf.message->GetReflection()->GetDouble(*leaf.message, leaf.field);
}

std::int64_t MessageText::whole(std::string_view path, int index) const {
  const Leaf leaf = find_leaf(message_, path);
  const auto* reflection = leaf.message->GetReflection();
  return index < 0 ? reflection->GetInt64(*leaf.message, leaf.field)
                   : reflection->GetRepeatedInt64(*leaf.message, leaf.field, index);
}

std::string MessageText::string(std::string_view path) const {
  const Leaf leaf = find_leaf(message_, path);
  return leaf.message->GetReflection()->GetString(*leaf.message, leaf.field);
}

std::string MessageText::enumerator(std::string_view path, int index) const {
  const Leaf leaf = find_leaf(message_, path);
  const auto* reflection = leaf.message->GetReflection();
  const auto* value = index < 0 ? reflection->GetEnum(*leaf.message, leaf.field)
                                : reflection->GetRepeatedEnum(*leaf.message, leaf.field, index);
  return value->name();
}

// ---- Places and faults ----

bool MessageText::is_refused(std::string_view path) const {
  return std::any_of(refused_.begin(), refused_.end(),
                     [&](const std::string& refused) { return covers(refused, path); });
}

bool MessageText::is_overridden(std::string_view path) const {
  return is_replaced(std::string(path));
}

void MessageText::refuse(std::string_view path, const std::string& problem,
                         const std::string& allowed, const std::string& nearest, int index) {
  const Found found = find(path, index);
  const std::string value = found.value.empty() ? "" : shown(found.value) + " ";
  refused_.emplace_back(path);
  add(found.part, found.position, {{}, std::string(path), value + problem, allowed, nearest});
}

void MessageText::report_missing(std::string_view path, const std::string& allowed) {
  if (!is_complete_ || is_refused(path)) return;
  const Found found = find(path, 0);
  refused_.emplace_back(path);
  add(found.part, found.position, {{}, std::string(path), "missing", allowed, {}});
}

std::vector<Fault> MessageText::faults() const {
  std::vector<PlacedFault> placed = faults_;
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedFault& a, const PlacedFault& b) {
    return std::tie(a.part, a.position.line, a.position.column) <
           std::tie(b.part, b.position.line, b.position.column);
  });
  std::vector<Fault> faults;
  faults.reserve(placed.size());
  for (PlacedFault& item : placed) faults.push_back(std::move(item.fault));
  return faults;
}

void MessageText::add(std::size_t part, Position position, Fault fault) {
  fault.place = parts_[part].name;
  if (!parts_[part].is_argument && position.line > 0) {
    fault.place += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  }
  faults_.push_back({part, position, std::move(fault)});
}

MessageText::Found MessageText::find(std::string_view path, int index) const {
  Found found;
  for (std::size_t part = parts_.size(); part-- > 0;) {
    const bool responsible =
        part == kFile || (!parts_[part].path.empty() && covers(parts_[part].path, path));
    if (!responsible) continue;
    if (find_in(part, path, index, found)) return found;
    if (part != kFile) break;
  }
  return found;
}

// The value, or else the innermost block that would hold it.
bool MessageText::find_in(std::size_t part, std::string_view path, int index, Found& found) const {
  const Part& where = parts_[part];
  found = {part, {0, 0}, {}};
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < where.paths.size(); ++i) {
    const SourceField& field = where.source.fields[i];
    const std::string& given = where.paths[i];
    if (given.empty() || !covers(given, path) || given.size() < deepest) continue;
    deepest = given.size();
    found.position = field.position;
    if (given != path || field.values.empty()) continue;
    const auto values = static_cast<int>(field.values.size());
    if (index < values) {
      const SourceValue& value = field.values[static_cast<std::size_t>(index)];
      found.position = value.position;
      found.value = value.text;
      return true;
    }
    index -= values;
  }
  return false;
}

}  // namespace shardscope
