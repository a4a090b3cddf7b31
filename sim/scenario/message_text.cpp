#include "sim/scenario/message_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cctype>
#include <memory>
#include <utility>

#include "sim/scenario/field_checks.h"
#include "sim/scenario/field_paths.h"
#include "sim/scenario/first_error.h"
#include "sim/scenario/source.h"
#include "sim/text/printable.h"

namespace shardscope {

using google::protobuf::Message;

MessageText::MessageText(std::string file, std::string text, const std::vector<Override>& overrides,
                         Message& message)
    : message_(message) {
  parts_.push_back({std::move(file), false, {}, std::move(text), {}, {}});
  read_overrides(overrides, *message.GetDescriptor(), parts_, faults_);
  parse(kFilePart, message_);
  for (std::size_t i = kFilePart + 1; i < parts_.size(); ++i) merge_override(i);
}

// ---- Parsing ----

void MessageText::parse(std::size_t index, Message& message) {
  MessagePart& part = parts_[index];
  part.source = scan_source(part.text);
  if (part.source.deepest > kDeepestNesting) {
    const std::string allowed = "at most " + std::to_string(kDeepestNesting) + " levels";
    faults_.add(index, part.source.too_deep, {{}, {}, "nested too deeply", allowed, {}});
    is_complete_ = false;
    return;
  }
  check_fields(index, *message.GetDescriptor(), parts_, faults_);
  if (part.is_argument && !holds_only_its_field(part)) {
    faults_.add(index, {}, {{}, part.path, "more than one value", "one value", {}});
    return;
  }
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kDeepestNesting);
  if (parser.ParseFromString(part.text, &message)) return;
  report_syntax(index, position_of_token(part.text, error.line(), error.column()), error.message());
}

void MessageText::report_syntax(std::size_t index, Position position, std::string message) {
  is_complete_ = false;
  if (message.ends_with(".")) message.pop_back();
  if (message.ends_with("got: ")) message += "the end";
  if (message.ends_with("found \"\"")) message.replace(message.size() - 2, 2, "the end");
  if (!message.empty()) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  faults_.drop_behind(index, position);  // They may only be consequences of the error.
  const std::string& path = parts_[index].path;
  if (!path.empty()) faults_.refuse(path);
  faults_.add(index, position, {{}, path, "syntax error: " + message, {}, {}});
}

void MessageText::merge_override(std::size_t index) {
  if (parts_[index].path.empty()) return;
  const std::unique_ptr<Message> changes(message_.New());
  parse(index, *changes);
  clear_field(message_, parts_[index].path);
  message_.MergeFrom(*changes);
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

bool MessageText::boolean(std::string_view path) const {
  const Leaf leaf = find_leaf(message_, path);
  return leaf.message->GetReflection()->GetBool(*leaf.message, leaf.field);
}

std::string MessageText::string(std::string_view path, int index) const {
  const Leaf leaf = find_leaf(message_, path);
  const auto* reflection = leaf.message->GetReflection();
  return index < 0 ? reflection->GetString(*leaf.message, leaf.field)
                   : reflection->GetRepeatedString(*leaf.message, leaf.field, index);
}

std::string MessageText::enumerator(std::string_view path, int index) const {
  const Leaf leaf = find_leaf(message_, path);
  const auto* reflection = leaf.message->GetReflection();
  const auto* value = index < 0 ? reflection->GetEnum(*leaf.message, leaf.field)
                                : reflection->GetRepeatedEnum(*leaf.message, leaf.field, index);
  return value->name();
}

std::string MessageText::place(std::string_view path, int index) const {
  const ValuePlace found = find_value(parts_, path, index);
  return format_place(parts_[found.part], found.position);
}

// ---- Faults ----

void MessageText::refuse(std::string_view path, const std::string& problem,
                         const std::string& allowed, const std::string& nearest, int index) {
  add_refusal(path, {{}, std::string(path), problem, allowed, nearest}, index);
}

void MessageText::refuse_combination(std::string_view path, const std::string& problem,
                                     const std::string& allowed) {
  add_refusal(path, {{}, std::string(path), problem, allowed, {}, true}, 0);
}

void MessageText::add_refusal(std::string_view path, Fault fault, int index) {
  const ValuePlace place = find_value(parts_, path, index);
  if (!place.value.empty()) fault.problem = shown(place.value) + " " + fault.problem;
  faults_.refuse(path);
  faults_.add(place.part, place.position, std::move(fault));
}

void MessageText::refuse_file(std::string_view path, const std::string& file,
                              const std::vector<Fault>& of_file) {
  const ValuePlace place = find_value(parts_, path, 0);
  for (const Fault& fault : of_file) {
    if (fault.place == file && fault.field.empty()) {
      const bool says_where = place.value.find(file) != std::string::npos;
      const std::string where = says_where ? "" : "looked for " + file;
      refuse(path, fault.problem,
             fault.allowed + (where.empty() || fault.allowed.empty() ? "" : "; ") + where);
    } else {
      faults_.refuse(path);
      faults_.add(place.part, place.position, fault);
    }
  }
}

void MessageText::report_missing(std::string_view path, const std::string& allowed) {
  if (!is_complete_ || is_refused(path)) return;
  const ValuePlace place = find_value(parts_, path, 0);
  faults_.refuse(path);
  faults_.add(place.part, place.position, {{}, std::string(path), "missing", allowed, {}});
}

}  // namespace shardscope
