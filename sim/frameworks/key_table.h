// The keys of a block of a configuration, as a table, and a block checked against it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/frameworks/config_value.h"
#include "sim/frameworks/framework_config.h"

namespace shardscope {

enum class KeyType { boolean, whole, number, text, block, any };

/// What becomes of a key.
enum class Use {
  read,     ///< The reader makes it part of the plan.
  parts,    ///< A block, whose keys are reported each by itself.
  option,   ///< Its value becomes that of a field of the scenario.
  none,     ///< It changes neither time nor memory.
  note,     ///< It changes them in a detail, which is left aside.
  refused,  ///< It changes them by more than a detail: any value but the default is a fault.
};

struct KeyRule {
  std::string_view key;
  KeyType type = KeyType::any;
  /// As it would be written; empty if there is none.
  std::string_view default_value = {};
  Use use = Use::none;
  /// What it means here, or of a refused one what is not modelled, in a line.
  std::string_view meaning = {};
  /// The scenario's field, of an option.
  std::string_view field = {};
  /// Of numbers.
  double low = 0;
  double high = std::numeric_limits<double>::max();
  /// Of text, separated by '|', in lower case; any if empty.
  std::string_view choices = {};
  /// Another name of the key.
  std::string_view alias = {};
  /// ZeRO stages, or FSDP's versions, at which it has an effect, as bits.
  unsigned stages = 0b1111;
};

using KeyTable = std::vector<KeyRule>;

/// What to do with a key that a table does not have: a fault, or an item that says it is ignored.
enum class UnknownKeys { refused, ignored };

/// A known key with the value that holds: the file's, the default or what "auto" became.
struct Setting {
  const KeyRule* rule = nullptr;
  std::string key;                     ///< In full, by the name it was given.
  const ConfigValue* given = nullptr;  ///< Null for a default.
  Origin origin = Origin::by_default;
  std::string value;  ///< Without quotes; empty if nothing is set.
  /// Instead of the rule's, where the reader knows more.
  std::optional<Effect> effect = {};
  std::string meaning = {};
};

/// What stands for "auto" of a key: nothing for its default. Adds a fault if it cannot be known.
using ResolveAuto = std::function<std::optional<std::string>(const Setting&)>;

/// The faults and the plan of one file.
class ConfigReading {
 public:
  /// Both must outlive it.
  ConfigReading(std::string path, std::vector<Fault>& faults)
      : path_(std::move(path)), faults_(faults), faults_before_(faults.size()) {}

  const std::string& path() const { return path_; }
  bool has_faults() const { return faults_.size() > faults_before_; }

  void fault(Position position, const std::string& field, const std::string& problem,
             const std::string& allowed = {}, const std::string& nearest = {});
  /// Of values that are allowed one by one.
  void conflict(Position position, const std::string& field, const std::string& problem,
                const std::string& allowed);

  /// `given` is the value the field comes from, null for a default.
  void override_field(std::string_view field, const std::string& value, const std::string& key,
                      const ConfigValue* given);
  void add_item(const ConfigValue* given, ConfigItem item);

  /// The plan with its items in the file's order, or nothing if there were faults.
  std::optional<FrameworkConfig> finish();

  FrameworkConfig config;  ///< Its items are those of a file it names, and follow.

 private:
  std::string path_;
  std::vector<Fault>& faults_;
  std::size_t faults_before_;
  std::vector<std::pair<Position, ConfigItem>> items_;
  std::map<std::string, std::vector<std::string>> fields_;  // That are overridden, by key.
};

/// A block, every key of it checked: its name, its type, its range, and that what is refused is at
/// its default.
class ConfigBlock {
 public:
  /// `block` may be null: then all is at its default. `prefix` is "zero_optimization." or "".
  ConfigBlock(const ConfigValue* block, const std::string& prefix, const KeyTable& table,
              UnknownKeys unknown, const ResolveAuto& resolve, ConfigReading& reading);

  /// By the table's name of the key, which must be one.
  Setting& setting(std::string_view key);

  bool is_given(std::string_view key) { return setting(key).given != nullptr; }
  /// "true"; false if nothing or something faulty is set.
  bool boolean(std::string_view key) { return setting(key).value == "true"; }
  std::optional<double> number(std::string_view key);
  std::optional<std::uint64_t> whole(std::string_view key);
  /// In lower case.
  std::string text(std::string_view key);
  /// The block that is the key's value, or null.
  const ConfigValue* block(std::string_view key);

  /// Overrides the fields of options, and adds an item per key given and per default that matters.
  /// `stage` is a number of KeyRule::stages, and `stages` what these are.
  void report(int stage, std::string_view stages, ConfigReading& reading);

  /// The same of a block whose keys are the same at every stage.
  void report(ConfigReading& reading) { report(0, "stage", reading); }

 private:
  void read(const ConfigMember& member, UnknownKeys unknown, const ResolveAuto& resolve,
            ConfigReading& reading);
  void add_unknown(const ConfigMember& member, UnknownKeys unknown, ConfigReading& reading);
  void report_setting(const Setting& setting, int stage, std::string_view stages,
                      ConfigReading& reading);

  std::string prefix_;
  std::vector<Setting> settings_;  ///< One per rule, in its order.
};

}  // namespace shardscope
