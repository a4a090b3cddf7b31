// A Protobuf message read from a text-format file and from arguments that replace fields of it,
// with the place of every value, so that whoever checks the values can say where a wrong one is.
//
// Fields are named by paths, "cluster.link.bandwidth". A path that the message's type does not have
// is a programming error and aborts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/fault.h"
#include "sim/scenario/source.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace shardscope {

/// FIELD=VALUE of the command line: replaces whatever a file says about FIELD. VALUE is in text
/// format; strings need no quotes and lists no brackets.
struct Override {
  std::string argument;    ///< As faults show it: "--set training.steps=5".
  std::string assignment;  ///< "training.steps=5"
};

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
  std::string string(std::string_view path) const;
  std::string enumerator(std::string_view path, int index = -1) const;

  /// Whether a fault in the field, or in a block around it, has been reported: its value is then
  /// meaningless.
  bool is_refused(std::string_view path) const;

  /// Reports the value, as it was written, at its place: "VALUE PROBLEM; ALLOWED".
  void refuse(std::string_view path, const std::string& problem, const std::string& allowed,
              const std::string& nearest = {}, int index = 0);

  /// Reports that a required field is not there, unless a fault explains its absence.
  void report_missing(std::string_view path, const std::string& allowed);

  /// Whether an override gave the field or a block around it.
  bool is_overridden(std::string_view path) const;

  bool has_faults() const { return !faults_.empty(); }

  /// The faults so far, in the order of their places: first the file's, then the arguments'.
  std::vector<Fault> faults() const;

 private:
  // The file, or one argument wrapped into the blocks of its field.
  struct Part {
    std::string name;
    bool is_argument = false;
    std::string path;  // The field an argument replaces.
    std::string text;
    Source source;
    // Of each field of the source, empty for those that were refused.
    std::vector<std::string> paths;
  };
  struct PlacedFault {
    std::size_t part;
    Position position;
    Fault fault;
  };
  struct Found {
    std::size_t part = 0;
    Position position{0, 0};  // Line 0: nowhere in particular.
    std::string value;
  };

  void read_overrides(const std::vector<Override>& overrides);
  bool read_override(const Override& replacement, Part& part);
  std::vector<const google::protobuf::FieldDescriptor*> find_fields(std::size_t index,
                                                                    const std::string& path);
  void drop_replaced_overrides();
  void merge_override(std::size_t index);
  bool holds_only_its_field(const Part& part) const;

  void parse(std::size_t index, google::protobuf::Message& message);
  void check_fields(std::size_t index, const google::protobuf::Message& message);
  bool check_shape(std::size_t index, std::size_t field,
                   const google::protobuf::FieldDescriptor& descriptor);
  bool check_values(std::size_t index, std::size_t field,
                    const google::protobuf::FieldDescriptor& descriptor);
  bool is_replaced(const std::string& path) const;
  void report_unknown(std::size_t index, std::size_t field, const std::string& parent_path,
                      const std::vector<std::string>& names);
  void report_syntax(std::size_t index, Position position, std::string message);

  void add(std::size_t part, Position position, Fault fault);
  Found find(std::string_view path, int index) const;
  bool find_in(std::size_t part, std::string_view path, int index, Found& found) const;

  google::protobuf::Message& message_;
  std::vector<Part> parts_;  // The file, then the overrides.
  std::vector<PlacedFault> faults_;
  std::vector<std::string> refused_;
  bool is_complete_ = true;  // False if an error of syntax hides what follows it.
};

}  // namespace shardscope
