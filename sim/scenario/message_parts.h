// The texts that a message is made of, a file and arguments that replace fields of it, and where in
// them a field's value stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/source.h"

namespace shardscope {

/// The file, or one argument wrapped into the blocks of its field.
struct MessagePart {
  std::string name;  ///< As faults show it.
  bool is_argument = false;
  std::string path;  ///< The field an argument replaces; empty if it is of no effect.
  std::string text;
  Source source;  ///< Of the text.
  /// Of each field of the source, empty for those that were refused.
  std::vector<std::string> paths;
};

/// The file, then the arguments in their order.
using MessageParts = std::vector<MessagePart>;
inline constexpr std::size_t kFilePart = 0;

/// Whether an argument gives the field or a block around it.
bool is_replaced(const MessageParts& parts, std::string_view path);

struct ValuePlace {
  std::size_t part = kFilePart;
  Position position{0, 0};  ///< Line 0: nowhere in particular.
  std::string value;        ///< As written; empty if it is not there.
};

/// Where value `index` of a field stands; if it does not, the innermost block that would hold it.
ValuePlace find_value(const MessageParts& parts, std::string_view path, int index);

/// FILE:LINE:COLUMN, or the name alone of an argument and of no place in particular.
std::string format_place(const MessagePart& part, Position position);

}  // namespace shardscope
