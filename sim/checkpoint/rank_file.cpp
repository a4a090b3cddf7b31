#include "sim/checkpoint/rank_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "core/data/digest.h"
#include "sim/checkpoint/faults.h"
#include "sim/files/safetensors.h"
#include "sim/files/tensor_checks.h"

namespace shardscope {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;

std::string error_text(int error) { return std::generic_category().message(error); }

/// A descriptor that is closed with its scope.
class Descriptor {
 public:
  /// No symbolic link is followed, and no pipe waited for.
  explicit Descriptor(const std::string& path)
      : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  int value() const { return value_; }

 private:
  int value_;
};

/// Reads up to `bytes` at `offset`: how many, 0 at the end; nothing on an error.
std::optional<std::size_t> read_some(int descriptor, std::uint64_t offset, std::size_t bytes,
                                     void* destination) {
  ssize_t got = 0;
  do {
    got = ::pread(descriptor, destination, bytes, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(got));
}

std::optional<std::string> file_checksum(int descriptor) {
  Fnv1a digest;
  std::vector<char> bytes(kBytesAtOnce);
  for (std::uint64_t offset = 0;;) {
    const auto got = read_some(descriptor, offset, bytes.size(), bytes.data());
    if (!got.has_value()) {
      return std::nullopt;
    }
    if (*got == 0) {
      return checksum_text(digest.hex());
    }
    digest.update(bytes.data(), *got);
    offset += *got;
  }
}

/// What is wrong with the kind and size of the file, or nothing.
std::optional<Fault> check_kind(const std::string& path, std::uint64_t expected_bytes) {
  struct stat status {};
  Fault fault = fault_at(path, "", "");
  if (::lstat(path.c_str(), &status) != 0) {
    fault.problem = errno == ENOENT ? "missing" : error_text(errno);
  } else if (S_ISLNK(status.st_mode)) {
    fault.problem = "is a symbolic link; a checkpoint has none";
  } else if (!S_ISREG(status.st_mode)) {
    fault.problem = "is not a regular file";
  } else if (static_cast<std::uint64_t>(status.st_size) != expected_bytes) {
    fault.field = "bytes";
    fault.problem = std::to_string(status.st_size) + " is not what the manifest says";
    fault.allowed = std::to_string(expected_bytes);
  } else {
    return std::nullopt;
  }
  return fault;
}

std::vector<ExpectedTensor> expected_tensors(const std::vector<RankTensor>& tensors) {
  std::vector<ExpectedTensor> expected;
  expected.reserve(tensors.size());
  for (const RankTensor& tensor : tensors) {
    expected.push_back({tensor.name, {"F32"}, {tensor.count}, "[elements]"});
  }
  return expected;
}

/// Texts of the file layer begin with the path.
void append_texts(const std::string& path, const std::vector<std::string>& texts,
                  std::vector<Fault>& faults) {
  for (const std::string& text : texts) {
    faults.push_back(fault_at(path, "", text.substr(path.size() + 2)));
  }
}

}  // namespace

std::string checksum_text(const std::string& digest) { return "fnv1a64:" + digest; }

std::vector<RankTensor> rank_tensors(const std::vector<ModelTensor>& tensors,
                                     const std::vector<TensorRange>& ranges) {
  std::vector<RankTensor> named;
  named.reserve(kStateVectors.size() * ranges.size());
  for (const StateVector which : kStateVectors) {
    for (const TensorRange& range : ranges) {
      named.push_back({std::string(state_prefix(which)) + range_name(tensors[range.tensor], range),
                       range.end - range.begin});
    }
  }
  return named;
}

std::optional<RankFile> RankFile::open(const std::string& folder, const CheckpointFile& expected,
                                       const std::vector<ModelTensor>& tensors,
                                       std::vector<Fault>& faults) {
  RankFile file;
  file.path_ = (std::filesystem::path(folder) / expected.name).string();
  if (auto fault = check_kind(file.path_, expected.bytes)) {
    faults.push_back(*std::move(fault));
    return std::nullopt;
  }
  const std::size_t before = faults.size();
  const Descriptor descriptor(file.path_);
  if (descriptor.value() < 0) {
    faults.push_back(fault_at(file.path_, "", "cannot be read: " + error_text(errno)));
    return std::nullopt;
  }
  const auto identity = identify(descriptor.value());
  const auto checksum = identity ? file_checksum(descriptor.value()) : std::nullopt;
  if (!checksum.has_value()) {
    faults.push_back(fault_at(file.path_, "", "cannot be read: " + error_text(errno)));
    return std::nullopt;
  }
  file.identity_ = *identity;
  if (*checksum != expected.checksum) {
    faults.push_back(fault_at(file.path_, "checksum", *checksum + " is not what the manifest says",
                              expected.checksum));
  }
  std::vector<std::string> texts;
  const auto opened = SafetensorsFile::open(file.path_, texts);
  const std::vector<RankTensor> named = rank_tensors(tensors, expected.ranges);
  if (opened != nullptr &&
      check_tensors(*opened, expected_tensors(named), FirstExtent::exact, texts)) {
    for (std::size_t i = 0; i < named.size(); ++i) {
      file.begins_[i / expected.ranges.size()].push_back(opened->find(named[i].name)->begin);
    }
  }
  append_texts(file.path_, texts, faults);
  return faults.size() == before ? std::optional(std::move(file)) : std::nullopt;
}

std::optional<RankFile::Identity> RankFile::identify(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return std::nullopt;
  }
  return Identity{status.st_dev, status.st_ino, status.st_size, status.st_mtim};
}

bool RankFile::is_unchanged(int descriptor) const {
  const auto now = identify(descriptor);
  const auto same = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  return now.has_value() && now->device == identity_.device && now->inode == identity_.inode &&
         now->size == identity_.size && same(now->modified, identity_.modified);
}

void RankFile::read(StateVector which, std::size_t range, std::uint64_t first, std::uint64_t count,
                    float* destination) const {
  const Descriptor descriptor(path_);
  if (descriptor.value() < 0) {
    throw std::runtime_error(path_ + ": cannot be read any more: " + error_text(errno));
  }
  if (!is_unchanged(descriptor.value())) {
    throw std::runtime_error(path_ + ": has changed while it was in use");
  }
  const auto vector = static_cast<std::size_t>(
      std::find(kStateVectors.begin(), kStateVectors.end(), which) - kStateVectors.begin());
  std::uint64_t offset = begins_[vector][range] + first * sizeof(float);
  auto* next = reinterpret_cast<char*>(destination);
  for (std::uint64_t left = count * sizeof(float); left > 0;) {
    const auto got = read_some(descriptor.value(), offset, left, next);
    if (got.value_or(0) == 0) {
      throw std::runtime_error(path_ + ": cannot be read any more: " +
                               (got ? "it has become shorter" : error_text(errno)));
    }
    next += *got;
    offset += *got;
    left -= *got;
  }
}

}  // namespace shardscope
