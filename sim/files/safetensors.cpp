#include "sim/files/safetensors.h"

#include <fcntl.h>
#include <json/json.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/check.h"
#include "core/tensor/kernels.h"
#include "core/tensor/tensor.h"
#include "sim/files/safetensors_header.h"

namespace shardscope {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr std::uint64_t kLengthBytes = 8;

/// Elements of a half type converted at a time.
constexpr std::uint64_t kConvertedAtOnce = 16384;

/// Reads exactly `bytes` at `offset`: an error text, or nothing.
std::optional<std::string> read_at(int descriptor, std::uint64_t offset, std::uint64_t bytes,
                                   void* destination) {
  char* next = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor, next, bytes, static_cast<off_t>(offset));
    if (got > 0) {
      next += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::uint64_t>(got);
    } else if (got == 0) {
      return "the file has become shorter";
    } else if (errno != EINTR) {
      return std::generic_category().message(errno);
    }
  }
  return std::nullopt;
}

/// The size of a regular file, or nothing and the reason.
std::optional<std::uint64_t> regular_file_size(int descriptor, std::string& reason) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    reason = std::generic_category().message(errno);
  } else if (S_ISDIR(status.st_mode)) {
    reason = "it is a folder";
  } else if (!S_ISREG(status.st_mode)) {
    reason = "it is not a regular file";
  } else {
    return static_cast<std::uint64_t>(status.st_size);
  }
  return std::nullopt;
}

/// The length of the header, or nothing and the reason.
std::optional<std::uint64_t> header_length(int descriptor, std::uint64_t file_bytes,
                                           std::string& reason) {
  if (file_bytes < kLengthBytes) {
    reason = "has " + std::to_string(file_bytes) + " bytes; a safetensors file has at least 8";
    return std::nullopt;
  }
  std::uint64_t length = 0;
  if (const auto error = read_at(descriptor, 0, kLengthBytes, &length)) {
    reason = "cannot be read: " + *error;
    return std::nullopt;
  }
  const std::uint64_t allowed = std::min(file_bytes - kLengthBytes, kLongestSafetensorsHeader);
  if (length > allowed) {
    reason = "the header should be " + std::to_string(length) + " bytes long, allowed are " +
             std::to_string(allowed) + ": the file is cut short or not a safetensors file";
    return std::nullopt;
  }
  return length;
}

std::optional<DType> floating_point_type(std::string_view dtype) {
  if (dtype == "F32") {
    return DType::fp32;
  }
  if (dtype == "F16") {
    return DType::fp16;
  }
  if (dtype == "BF16") {
    return DType::bf16;
  }
  return std::nullopt;
}

std::string_view safetensors_name(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "F32";
    case DType::bf16:
      return "BF16";
    case DType::fp16:
      return "F16";
    case DType::uint8:
      return "U8";
    case DType::int64:
      return "I64";
  }
  return "";
}

std::uint64_t bytes_of(const SafetensorsTensor& tensor) {
  std::uint64_t bytes = size_of(tensor.dtype);
  for (const std::uint64_t extent : tensor.shape) {
    bytes *= extent;
  }
  return bytes;
}

/// The header's JSON, padded so that the data begin at a multiple of 8 bytes.
std::string header_text(const std::vector<SafetensorsTensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  Json::Value root(Json::objectValue);
  for (const auto& [key, text] : metadata) {
    root["__metadata__"][key] = text;
  }
  Json::UInt64 offset = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    Json::Value entry;
    entry["dtype"] = std::string(safetensors_name(tensor.dtype));
    entry["shape"] = Json::Value(Json::arrayValue);
    for (const std::uint64_t extent : tensor.shape) {
      entry["shape"].append(Json::UInt64{extent});
    }
    entry["data_offsets"].append(offset);
    offset += bytes_of(tensor);
    entry["data_offsets"].append(offset);
    root[tensor.name] = std::move(entry);
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  std::string text = Json::writeString(builder, root);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

SafetensorsFile::~SafetensorsFile() { ::close(descriptor_); }

std::unique_ptr<SafetensorsFile> SafetensorsFile::open(const std::string& path,
                                                       std::vector<std::string>& faults) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    faults.push_back(path + ": cannot be opened: " + std::generic_category().message(errno));
    return nullptr;
  }
  std::unique_ptr<SafetensorsFile> file(new SafetensorsFile(path, descriptor));
  std::string reason;
  const auto file_bytes = regular_file_size(descriptor, reason);
  const auto length = file_bytes ? header_length(descriptor, *file_bytes, reason) : std::nullopt;
  if (!length) {
    faults.push_back(path + ": " + reason);
    return nullptr;
  }
  std::string header(*length, '\0');
  if (const auto error = read_at(descriptor, kLengthBytes, *length, header.data())) {
    faults.push_back(path + ": cannot be read: " + *error);
    return nullptr;
  }
  const std::size_t faults_before = faults.size();
  const std::uint64_t data_begin = kLengthBytes + *length;
  file->entries_ =
      parse_safetensors_header(path, header, data_begin, *file_bytes - data_begin, faults);
  for (std::size_t i = 0; i < file->entries_.size(); ++i) {
    file->index_of_name_.emplace(file->entries_[i].name, i);
  }
  return faults.size() == faults_before ? std::move(file) : nullptr;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_of_name_.find(name);
  return found == index_of_name_.end() ? nullptr : &entries_[found->second];
}

std::optional<std::string> SafetensorsFile::read(const SafetensorsEntry& entry, std::uint64_t first,
                                                 std::uint64_t count, void* destination) const {
  SHARDSCOPE_CHECK(first <= entry.elements && count <= entry.elements - first,
                   "elements beyond a tensor's end");
  const auto error = read_at(descriptor_, entry.begin + first * entry.element_size,
                             count * entry.element_size, destination);
  return error ? std::optional(path_ + ": cannot be read: " + *error) : std::nullopt;
}

std::optional<std::string> SafetensorsFile::read_fp32(const SafetensorsEntry& entry,
                                                      std::uint64_t first, std::uint64_t count,
                                                      float* destination) const {
  const std::optional<DType> dtype = floating_point_type(entry.dtype);
  SHARDSCOPE_CHECK(dtype.has_value(), "not a floating-point tensor that can be converted");
  if (*dtype == DType::fp32) {
    return read(entry, first, count, destination);
  }
  std::vector<std::byte> halves(std::min(count, kConvertedAtOnce) * size_of(*dtype));
  for (std::uint64_t done = 0; done < count; done += kConvertedAtOnce) {
    const std::uint64_t piece = std::min(kConvertedAtOnce, count - done);
    if (auto error = read(entry, first + done, piece, halves.data())) {
      return error;
    }
    convert(Tensor::of(destination + done, piece), Tensor{halves.data(), *dtype, piece});
  }
  return std::nullopt;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path,
                                     const std::vector<SafetensorsTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path) {
  for (const SafetensorsTensor& tensor : tensors) {
    remaining_bytes_ += bytes_of(tensor);
  }
  const std::string header = header_text(tensors, metadata);
  const std::uint64_t length = header.size();
  append(&length, sizeof length);
  append(header.data(), header.size());
}

void SafetensorsWriter::write(const void* data, std::size_t bytes) {
  SHARDSCOPE_CHECK(bytes <= remaining_bytes_, "more bytes than the header announces");
  remaining_bytes_ -= bytes;
  append(data, bytes);
}

void SafetensorsWriter::append(const void* data, std::size_t bytes) {
  digest_.update(data, bytes);
  bytes_ += bytes;
  file_.write(data, bytes);
}

std::optional<std::string> SafetensorsWriter::finish() {
  SHARDSCOPE_CHECK(remaining_bytes_ == 0, "fewer bytes than the header announces");
  return file_.commit();
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  constexpr std::size_t kMostShown = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), kMostShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() > kMostShown ? ", ...]" : "]");
}

}  // namespace shardscope
