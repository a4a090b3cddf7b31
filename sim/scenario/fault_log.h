// The faults found in a message's parts, and the fields whose values they make meaningless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/message_parts.h"
#include "sim/scenario/source.h"
#include "sim/text/fault.h"

namespace shardscope {

class FaultLog {
 public:
  /// A fault at a position of parts[part]; line 0 is the part as a whole. One that has a place
  /// already keeps it, and is in order as if it stood there.
  void add(std::size_t part, Position position, Fault fault);

  /// Drops the part's faults behind the position.
  void drop_behind(std::size_t part, Position position);

  /// From now on the field, with all in it, is refused.
  void refuse(std::string_view path) { refused_.emplace_back(path); }
  bool is_refused(std::string_view path) const;

  bool empty() const { return faults_.empty(); }

  /// All, with their places, in the order of these.
  std::vector<Fault> in_order(const MessageParts& parts) const;

 private:
  struct PlacedFault {
    std::size_t part;
    Position position;
    Fault fault;
  };

  std::vector<PlacedFault> faults_;
  std::vector<std::string> refused_;
};

}  // namespace shardscope
