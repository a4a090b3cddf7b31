#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "sim/text/fault_list.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/topology_files/simgrid_platform.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostExpanded = 100'000;
constexpr std::size_t kLongestPattern = 1000;
constexpr const char* kPatterns =
    "a host's name, one with numbers such as \"node-[0-7]\" or \"node-{0-3,5}\", or one with * and "
    "?";

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// "0-3,5" -> 0, 1, 2, 3, 5; as many digits as the first number of a range that begins with 0 has.
std::optional<std::vector<std::string>> numbers(std::string_view text) {
  std::vector<std::string> all;
  while (true) {
    const std::string_view range = text.substr(0, text.find(','));
    const std::size_t dash = range.find('-');
    const std::string_view first_text = range.substr(0, dash);
    const std::optional<std::uint32_t> first = number(first_text);
    const std::optional<std::uint32_t> last =
        dash == std::string_view::npos ? first : number(range.substr(dash + 1));
    if (!first.has_value() || !last.has_value() || *last < *first ||
        *last - *first >= kMostExpanded - std::min(all.size(), kMostExpanded)) {
      return std::nullopt;
    }
    for (std::uint64_t i = *first; i <= *last; ++i) {
      std::string digits = std::to_string(i);
      if (first_text.front() == '0' && digits.size() < first_text.size()) {
        digits.insert(0, first_text.size() - digits.size(), '0');
      }
      all.push_back(std::move(digits));
    }
    if (range.size() == text.size()) {
      return all;
    }
    text.remove_prefix(range.size() + 1);
  }
}

// All texts that a pattern with numbers stands for; nothing if the numbers are none, or too many.
std::optional<std::vector<std::string>> expand(const std::string& pattern) {
  std::vector<std::string> texts = {""};
  std::string_view rest = pattern;
  while (!rest.empty()) {
    const std::size_t open = rest.find_first_of("[{]}");
    for (std::string& text : texts) {
      text += rest.substr(0, open);
    }
    if (open == std::string_view::npos) {
      break;
    }
    const std::size_t close = rest[open] == '[' ? rest.find(']') : rest.find('}');
    if (rest[open] == ']' || rest[open] == '}' || close == std::string_view::npos) {
      return std::nullopt;
    }
    const std::optional<std::vector<std::string>> group =
        numbers(rest.substr(open + 1, close - open - 1));
    if (!group.has_value() || group->size() > kMostExpanded / texts.size()) {
      return std::nullopt;
    }
    std::vector<std::string> longer;
    for (const std::string& text : texts) {
      for (const std::string& digits : *group) {
        longer.push_back(text + digits);
      }
    }
    texts = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return texts;
}

class Selection {
 public:
  Selection(const SimgridPlatform& platform, FaultList& faults) : faults_(faults) {
    for (const SimgridHost& host : platform.hosts) {
      names_.push_back(host.name);
    }
    known_.insert(names_.begin(), names_.end());
  }

  const std::vector<std::string>& all() const { return names_; }
  std::vector<std::string> take() { return std::move(chosen_); }

  void add(const std::string& pattern) {
    if (known_.contains(pattern)) {
      choose(pattern, pattern);
      return;
    }
    const auto texts = pattern.size() > kLongestPattern ? std::nullopt : expand(pattern);
    if (!texts.has_value()) {
      faults_.add(0, "hosts", quoted(pattern) + " is no pattern of hosts", kPatterns);
      return;
    }
    std::vector<std::string> missing;
    for (const std::string& text : *texts) {
      if (!add_one(pattern, text)) {
        missing.push_back(text);
      }
    }
    if (!missing.empty()) {
      refuse(pattern, missing);
    }
  }

 private:
  bool add_one(const std::string& pattern, const std::string& text) {
    if (text.find_first_of("*?") == std::string::npos) {
      if (known_.contains(text)) {
        choose(pattern, text);
        return true;
      }
      return false;
    }
    bool found = false;
    for (const std::string& name : names_) {
      if (fnmatch(text.c_str(), name.c_str(), FNM_NOESCAPE) == 0) {
        choose(pattern, name);
        found = true;
      }
    }
    return found;
  }

  void choose(const std::string& pattern, const std::string& host) {
    const auto [before, is_new] = by_.emplace(host, pattern);
    if (is_new) {
      chosen_.push_back(host);
      return;
    }
    faults_.add(0, "hosts",
                quoted(host) + " is chosen twice, by " + quoted(before->second) + " and " +
                    quoted(pattern));
  }

  void refuse(const std::string& pattern, const std::vector<std::string>& missing) {
    std::string problem = quoted(pattern) + " matches no host";
    if (missing.front() != pattern) {
      problem = quoted(pattern) + " names " + quoted(missing.front()) +
                (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " more" : "") +
                ", of which there is no host";
    }
    faults_.add(0, "hosts", problem,
                "hosts from " + quoted(names_.front()) + " to " + quoted(names_.back()),
                nearest_name(missing.front(), names_));
  }

  FaultList& faults_;
  std::vector<std::string> names_;
  std::set<std::string> known_;
  std::map<std::string, std::string> by_;  // Hosts, and the pattern that chose them.
  std::vector<std::string> chosen_;
};

}  // namespace

std::vector<std::string> select_hosts(const SimgridPlatform& platform,
                                      const std::vector<std::string>& patterns,
                                      std::vector<Fault>& faults) {
  FaultList list(platform.path, faults);
  Selection selection(platform, list);
  if (patterns.empty()) {
    return selection.all();
  }
  for (const std::string& pattern : patterns) {
    selection.add(pattern);
  }
  return selection.take();
}

}  // namespace shardscope
