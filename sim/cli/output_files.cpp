#include "sim/cli/output_files.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "sim/files/atomic_file.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) ||
         fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

}  // namespace

void check_writable(const std::string& path, Messages& messages) {
  if (const std::optional<std::string> reason = why_not_writable(path)) {
    messages.push_back(*reason);
  }
}

void OutputFiles::add_input(const std::string& path, const std::string& what) {
  taken_.emplace_back(path, what);
}

void OutputFiles::add_output(const std::string& option, const std::string& path) {
  if (path != "-") {
    check(option, path);
    taken_.emplace_back(path, "an output of " + option);
  }
}

void OutputFiles::check(const std::string& option, const std::string& path) const {
  for (const auto& [other, what] : taken_) {
    if (is_same_file(path, other)) {
      messages_.push_back(option + ": " + shown(path) + " is also " + what +
                          ", which it would replace");
    }
  }
}

}  // namespace shardscope
