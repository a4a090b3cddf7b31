#include "sim/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace shardscope {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

/// Where the bytes go: the end of a chain of symbolic links, also if it does not exist yet.
std::string resolve(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failure);
  return failure ? path : resolved.string();
}

constexpr std::string_view kTemporaryPrefix = ".shardscope-";
constexpr std::string_view kTemporarySuffix = ".tmp";

/// A short name, so that a target's name may be as long as the file system allows.
std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> count{0};
  const std::string name = std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" +
                           std::to_string(count++) + std::string(kTemporarySuffix);
  return (std::filesystem::path(target).parent_path() / name).string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path.empty()) {
    fail("the name is empty");
    return;
  }
  target_ = resolve(path);
  struct stat status {};
  const int error = ::stat(target_.c_str(), &status) == 0 ? 0 : errno;
  if (path.back() == '/' || (error == 0 && S_ISDIR(status.st_mode))) {
    fail("it is a folder");
  } else if (error != 0 && error != ENOENT) {
    fail(error_text(error));
  } else if (error == ENOENT || S_ISREG(status.st_mode)) {
    open_beside();
  } else {
    open_directly();
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::open_beside() {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && ::access(target_.c_str(), W_OK) != 0) {
    fail(error_text(errno));
    return;
  }
  temporary_ = temporary_beside(target_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno == ENOENT ? "its folder does not exist" : error_text(errno));
  } else if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) {
    fail(error_text(errno));
  }
}

void AtomicFile::open_directly() {
  descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(error_text(errno));
  }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (!error_ && bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);
    if (written >= 0) {
      next += written;
      bytes -= static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      fail(error_text(errno));
    }
  }
}

const std::optional<std::string>& AtomicFile::close() {
  if (descriptor_ < 0) {
    return error_;
  }
  if (!temporary_.empty() && ::fdatasync(descriptor_) != 0) {
    fail(error_text(errno));
    return error_;
  }
  const bool closed = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed) {
    fail(error_text(errno));
  }
  return error_;
}

const std::optional<std::string>& AtomicFile::commit() {
  if (close().has_value()) {
    return error_;
  }
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail(error_text(errno));
  } else {
    temporary_.clear();
  }
  return error_;
}

void AtomicFile::fail(const std::string& reason) {
  error_ = path_ + ": cannot be written: " + reason;
  discard();
}

void AtomicFile::discard() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

std::optional<std::string> write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  return file.commit();
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryPrefix) && name.ends_with(kTemporarySuffix);
}

std::optional<std::string> why_not_writable(const std::string& path) {
  return AtomicFile(path).error();
}

}  // namespace shardscope
