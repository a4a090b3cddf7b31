#include "sim/files/new_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace shardscope {
namespace {

std::string refusal(const std::string& path, const std::string& reason) {
  return path + ": cannot be written to: " + reason;
}

std::string error_text(int error) { return std::generic_category().message(error); }

/// The folders of the path that do not exist, the innermost first, and what they are to be made in.
struct Missing {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path existing;
};

Missing missing_of(const std::string& path) {
  std::error_code ignored;
  Missing missing;
  std::filesystem::path folder = std::filesystem::absolute(path, ignored);
  if (!folder.has_filename()) {  // "DIR/"
    folder = folder.parent_path();
  }
  while (folder.has_relative_path() &&
         std::filesystem::status(folder, ignored).type() == std::filesystem::file_type::not_found) {
    missing.folders.push_back(folder);
    folder = folder.parent_path();
  }
  missing.existing = folder;
  return missing;
}

}  // namespace

std::optional<std::string> why_no_folder(const std::string& path) {
  if (path.empty()) {
    return "the name of the folder is empty";
  }
  const std::filesystem::path existing = missing_of(path).existing;
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(existing, error);
  if (error) {
    return refusal(path, error.message());
  }
  if (!is_folder) {
    return refusal(path, existing.string() + " is not a folder");
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    return refusal(path, existing.string() + ": " + error_text(errno));
  }
  return std::nullopt;
}

NewFolder::NewFolder(const std::string& path) {
  error_ = why_no_folder(path);
  if (error_) {
    return;
  }
  std::vector<std::filesystem::path> folders = missing_of(path).folders;
  std::reverse(folders.begin(), folders.end());
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    // Another program may have made it in the meantime; then it is not ours to remove.
    if (std::filesystem::create_directory(folder, error)) {
      made_.push_back(folder);
    } else if (error) {
      error_ = refusal(path, error.message());
      return;
    }
  }
}

NewFolder::~NewFolder() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    std::error_code ignored;
    std::filesystem::remove(*folder, ignored);
  }
}

}  // namespace shardscope
