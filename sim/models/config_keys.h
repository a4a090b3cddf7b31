// The keys of a model's configuration, read one by one. A value that is wrong is a fault and reads
// as the key's default.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/fault_list.h"
#include "sim/text/file_text.h"

namespace Json {
class Value;
}

namespace shardscope {

class ConfigKeys {
 public:
  /// `root` is an object, parsed from `text`, which has no byte-order mark. All must outlive the
  /// keys.
  ConfigKeys(const Json::Value& root, std::string_view text, FaultList& faults,
             std::vector<std::string>& notes)
      : root_(root), text_(text), lines_(text), faults_(faults), notes_(notes) {}

  /// A whole number from 1 to `most`. A default is noted.
  std::size_t size(const std::string& key, std::size_t missing, std::size_t most);

  /// Nothing if absent or null.
  std::optional<std::size_t> optional_size(const std::string& key, std::size_t most);

  bool flag(const std::string& key, bool missing);

  /// Whether the probability, from 0 to below 1, is above 0.
  bool dropout(const std::string& key, double missing);

  /// One of `allowed`.
  std::string choice(const std::string& key, const std::string& missing,
                     const std::vector<std::string>& allowed);

  /// The one of a key's two names that the file uses; a fault if it has both, unlike.
  std::string either(const std::string& key, const std::string& other_name);

  /// Whether the key has a value that is not null.
  bool has(const std::string& key);
  bool is_absent(const std::string& key);

  /// A fault of the key's value, which is named.
  void refuse(const std::string& key, std::string allowed);
  void fault(const std::string& key, std::string problem, std::string allowed = {});
  void note(std::string text) { notes_.push_back(std::move(text)); }

  /// Whether none of these had a fault; what they are together may then be checked.
  bool are_sound(std::initializer_list<std::string> keys) const;

  /// A fault for each key that nothing asked for and that is nearly one that is absent.
  void check_spelling();

 private:
  const Json::Value* find(const std::string& key);
  std::size_t line_of(const Json::Value& value) const;
  /// The value as the file has it, fit for a terminal.
  std::string written(const Json::Value& value) const;

  const Json::Value& root_;
  std::string_view text_;
  LineIndex lines_;
  FaultList& faults_;
  std::vector<std::string>& notes_;
  std::set<std::string> asked_;
  std::set<std::string> faulty_;
};

}  // namespace shardscope
