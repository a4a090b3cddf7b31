// A Protobuf message read from a text-format file and from arguments that replace fields of it,
// with the place of every value, so that whoever checks the values can say where a wrong one is.
//
// Fields are named by paths, "cluster.link.bandwidth". A path that the message's type does not have
// is a programming error and aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/fault_log.h"
#include "sim/scenario/message_parts.h"
#include "sim/scenario/overrides.h"
#include "sim/text/fault.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace shardscope {

class MessageText {
 public:
  /// Parses `text`, the contents of `file`, into `message` (which must outlive this) and applies
  /// the overrides in order, the last of a field winning. Faults: unknown and repeated fields, and
  /// values of a wrong type, all together; and the first error of syntax with those before it.
  MessageText(std::string file, std::string text, const std::vector<Override>& overrides,
              google::protobuf::Message& message);

  /// Whether a field is set; otherwise the following give its default.
  bool has(std::string_view path) const;
  /// Elements of a repeated field.
  int count(std::string_view path) const;
  /// Values of a field, or of an element of a repeated one.
  double number(std::string_view path) const;
  std::int64_t whole(std::string_view path, int index = -1) const;
  bool boolean(std::string_view path) const;
  std::string string(std::string_view path, int index = -1) const;
  std::string enumerator(std::string_view path, int index = -1) const;

  /// Whether a fault in the field, or in a block around it, has been reported: its value is then
  /// meaningless.
  bool is_refused(std::string_view path) const { return faults_.is_refused(path); }

  /// Reports the value, as it was written, at its place: "VALUE PROBLEM; ALLOWED".
  void refuse(std::string_view path, const std::string& problem, const std::string& allowed,
              const std::string& nearest = {}, int index = 0);

  /// The same of a value that is wrong only beside the values of other fields.
  void refuse_combination(std::string_view path, const std::string& problem,
                          const std::string& allowed);

  /// Refuses a field for what is wrong with the file that it names: in it, or with it as a whole.
  void refuse_file(std::string_view path, const std::string& file,
                   const std::vector<Fault>& of_file);

  /// Reports that a required field is not there, unless a fault explains its absence.
  void report_missing(std::string_view path, const std::string& allowed);

  /// Whether an override gave the field or a block around it.
  bool is_overridden(std::string_view path) const { return is_replaced(parts_, path); }

  /// Where value `index` of the field stands, counted over all blocks that give it:
  /// FILE:LINE:COLUMN or the argument.
  std::string place(std::string_view path, int index) const;

  bool has_faults() const { return !faults_.empty(); }

  /// The faults so far, in the order of their places: first the file's, then the arguments'.
  std::vector<Fault> faults() const { return faults_.in_order(parts_); }

 private:
  void add_refusal(std::string_view path, Fault fault, int index);
  void parse(std::size_t index, google::protobuf::Message& message);
  void report_syntax(std::size_t index, Position position, std::string message);
  void merge_override(std::size_t index);

  google::protobuf::Message& message_;
  MessageParts parts_;
  FaultLog faults_;
  bool is_complete_ = true;  // False if an error of syntax hides what follows it.
};

}  // namespace shardscope
