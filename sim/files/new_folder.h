// Folders that are made for outputs and vanish again unless there will be outputs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace shardscope {

/// Why files cannot be written to the folder, or why it cannot be made if it does not exist, as far
/// as can be told without making it; or nothing. Leaves nothing behind.
std::optional<std::string> why_no_folder(const std::string& path);

class NewFolder {
 public:
  /// Makes the folder and the folders above it, as far as they do not exist. On failure error()
  /// says why.
  explicit NewFolder(const std::string& path);

  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  /// Removes what was made, as far as it is empty, unless keep() was called.
  ~NewFolder();

  void keep() { made_.clear(); }

  const std::optional<std::string>& error() const { return error_; }

 private:
  std::vector<std::filesystem::path> made_;  // The outermost first.
  std::optional<std::string> error_;
};

}  // namespace shardscope
