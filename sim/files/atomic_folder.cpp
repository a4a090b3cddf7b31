#include "sim/files/atomic_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace shardscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".shardscope-";
constexpr std::string_view kSuffix = ".folder.tmp";

/// Names that a dead process of the same number left behind are passed over.
constexpr int kMostAttempts = 1000;

std::string error_text(int error) { return std::generic_category().message(error); }

/// The folder without a slash at its end, which would hide its name.
fs::path without_slash(const std::string& path) {
  const fs::path folder = path;
  return folder.has_filename() ? folder : folder.parent_path();
}

fs::path hidden_beside(const std::string& path) {
  static std::atomic<unsigned> count{0};
  const std::string name = std::string(kPrefix) + std::to_string(::getpid()) + "-" +
                           std::to_string(count++) + std::string(kSuffix);
  return without_slash(path).parent_path() / name;
}

std::string folder_of(const std::string& path) {
  const fs::path parent = without_slash(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& path, ExistingFolder existing)
    : path_(without_slash(path).string()), existing_(existing) {
  if (path.empty()) {
    fail("the name is empty");
    return;
  }
  if (existing == ExistingFolder::refused && exists(path_)) {
    fail("it exists already");
    return;
  }
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    hidden_ = hidden_beside(path).string();
    if (::mkdir(hidden_.c_str(), 0777) == 0) {
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  const int error = errno;
  hidden_.clear();
  fail(error == ENOENT ? "its folder does not exist" : error_text(error));
}

AtomicFolder::~AtomicFolder() {
  if (!hidden_.empty()) {
    std::error_code ignored;
    fs::remove_all(hidden_, ignored);
  }
}

const std::optional<std::string>& AtomicFolder::commit() {
  if (error_.has_value()) {
    return error_;
  }
  if (const auto reason = flush_folder(hidden_)) {
    fail(*reason);
  } else if (!take_name()) {
    fail(errno == EINVAL ? "this file system cannot exchange it for a new folder; remove it first"
                         : error_text(errno));
  } else if (const auto late_reason = flush_folder(folder_of(path_))) {
    fail(*late_reason);
  }
  return error_;
}

/// After an exchange the hidden name is that of the old folder, which the destructor removes.
bool AtomicFolder::take_name() {
  if (exists(path_)) {
    if (existing_ == ExistingFolder::refused) {
      errno = EEXIST;
      return false;
    }
    return ::renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0;
  }
  if (::rename(hidden_.c_str(), path_.c_str()) != 0) {
    return false;
  }
  hidden_.clear();
  return true;
}

void AtomicFolder::fail(const std::string& reason) {
  error_ = path_ + ": cannot be written: " + reason;
}

std::optional<std::string> flush_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return error_text(errno);
  }
  // EINVAL: a file system that cannot flush folders by themselves.
  const bool flushed = ::fsync(descriptor) == 0 || errno == EINVAL;
  const int error = errno;
  ::close(descriptor);
  return flushed ? std::nullopt : std::optional(error_text(error));
}

std::optional<std::string> remove_folder(const std::string& path) {
  const fs::path hidden = hidden_beside(path);
  std::error_code error;
  fs::rename(path, hidden, error);
  if (!error) {
    fs::remove_all(hidden, error);
  }
  return error ? std::optional(path + ": cannot be removed: " + error.message()) : std::nullopt;
}

bool is_hidden_folder_name(std::string_view name) {
  return name.size() > kPrefix.size() + kSuffix.size() &&
         name.substr(0, kPrefix.size()) == kPrefix &&
         name.substr(name.size() - kSuffix.size()) == kSuffix;
}

}  // namespace shardscope
