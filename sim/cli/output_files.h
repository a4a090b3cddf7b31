// The files that a command is to write, checked before anything is made or run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/cli/output.h"

namespace shardscope {

/// Adds to `messages` why no file can be written at the path, if so.
void check_writable(const std::string& path, Messages& messages);

/// Finds outputs that would take the place of a file that is read, or of another output.
class OutputFiles {
 public:
  /// Faults go to `messages`, which outlives this.
  explicit OutputFiles(Messages& messages) : messages_(messages) {}

  /// A file that is read, in the user's words: "the scenario", "data.file".
  void add_input(const std::string& path, const std::string& what);

  /// Faults if it is an input or an output so far; "-" is none of the files.
  void add_output(const std::string& option, const std::string& path);

  /// The same, but what comes later may be it.
  void check(const std::string& option, const std::string& path) const;

 private:
  Messages& messages_;
  std::vector<std::pair<std::string, std::string>> taken_;  // Path and what it is.
};

}  // namespace shardscope
