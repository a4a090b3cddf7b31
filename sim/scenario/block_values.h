// Values of the blocks of a repeated field, whose places are found by counting: the nth value of a
// field stands in the nth block that gives it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/scenario/checks.h"
#include "sim/scenario/message_text.h"
#include "sim/text/quantity.h"

namespace shardscope {

/// Every field of every block must be asked for once, block by block, in the order of the message.
/// A faulty value is reported and none.
class BlockValues {
 public:
  explicit BlockValues(MessageText& text) : text_(text) {}

  /// Of a field that is given or not.
  std::optional<std::string> text(const std::string& path, bool is_given, const std::string& value);
  std::optional<double> number(const std::string& path, bool is_given, double value,
                               NumberRange range);
  std::optional<double> quantity(const std::string& path, bool is_given, const std::string& value,
                                 Dimension dimension, Zero zero);

  /// Refuses the value asked for last.
  void refuse(const std::string& path, const std::string& problem, const std::string& allowed,
              const std::string& nearest = {});

  /// Reports that a block lacks the field. Blocks are counted by this: once for each block, whether
  /// the field is given or not.
  void require(const std::string& block, const std::string& field, bool is_given,
               const std::string& allowed);

 private:
  MessageText& text_;
  std::map<std::string, int> given_;       // By path, values so far.
  std::map<std::string, int> blocks_;      // By path of a field, blocks so far.
  std::map<std::string, bool> was_wrong_;  // Refused by others, before the first block.
  std::set<std::string> lacking_;          // Blocks.
};

}  // namespace shardscope
