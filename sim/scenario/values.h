// Values of a MessageText for whoever turns it into plain ones: faults are reported, and 1 stands
// for a faulty value, which is never used and keeps what follows well defined.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/scenario/checks.h"
#include "sim/scenario/message_text.h"
#include "sim/text/quantity.h"

namespace shardscope {

class Values {
 public:
  explicit Values(MessageText& text) : text_(text) {}

  /// Of a field that has a default, or was seen to be there.
  std::int64_t whole(const char* path, WholeRange range);
  double number(const char* path, NumberRange range);
  double quantity(const char* path, Dimension dimension, Zero zero);

  /// Of a field that may be missing: reported, or none.
  double required_quantity(const char* path, Dimension dimension, Zero zero);
  std::int64_t required_whole(const char* path, WholeRange range);
  std::optional<double> optional_quantity(const char* path, Dimension dimension, Zero zero);
  std::optional<std::int64_t> optional_whole(const char* path, WholeRange range);

 private:
  MessageText& text_;
};

}  // namespace shardscope
