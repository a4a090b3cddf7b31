// Safetensors files: named tensors with their types and shapes.
// Format: https://github.com/huggingface/safetensors (README, "Format").
//
//   8 bytes   length N of the header, little-endian
//   N bytes   JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//             "__metadata__": {"key": "text"}}, padded with spaces
//   the rest  the tensors' bytes, row-major, little-endian, without holes; offsets count from here
//
// Nothing in a file is trusted and nothing throws: faults are texts that name the file, the tensor,
// what was found and what is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/data/digest.h"
#include "core/tensor/dtype.h"
#include "sim/files/atomic_file.h"

namespace shardscope {

/// A tensor of an open file.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  ///< As in the file: "F32", "BF16", "I64", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;      ///< Product of the shape; 1 for a scalar.
  std::uint64_t begin = 0;         ///< In the file, bytes.
  std::uint64_t element_size = 0;  ///< Bytes.
};

class SafetensorsFile {
 public:
  /// Reads and checks the header. Null, with at least one fault appended, if the file cannot be
  /// read or is not exactly what the format says. The tensors' values are not read.
  static std::unique_ptr<SafetensorsFile> open(const std::string& path,
                                               std::vector<std::string>& faults);

  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;
  ~SafetensorsFile();

  const std::string& path() const { return path_; }

  /// All tensors, in the order of their bytes in the file.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }

  /// The tensor of that name, or null.
  const SafetensorsEntry* find(std::string_view name) const;

  /// Reads elements [first, first + count) as they are; aborts if the tensor has fewer. Safe from
  /// several threads and in forked processes. An error text if the file system fails, or nothing.
  std::optional<std::string> read(const SafetensorsEntry& entry, std::uint64_t first,
                                  std::uint64_t count, void* destination) const;

  /// The same for F32, F16 and BF16, converted to fp32. Aborts on another type.
  std::optional<std::string> read_fp32(const SafetensorsEntry& entry, std::uint64_t first,
                                       std::uint64_t count, float* destination) const;

 private:
  SafetensorsFile(std::string path, int descriptor);

  std::string path_;
  int descriptor_;
  std::vector<SafetensorsEntry> entries_;
  std::unordered_map<std::string_view, std::size_t> index_of_name_;  // Names are those of entries_.
};

/// What a file to be written says about one tensor.
struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::fp32;
  std::vector<std::uint64_t> shape;
};

/// Writes a file piece by piece: first the header, then the tensors' bytes in their order, however
/// cut. Without a successful finish() nothing is left.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, const std::vector<SafetensorsTensor>& tensors,
                    const std::map<std::string, std::string>& metadata = {});

  /// The next bytes. Aborts if there are more than the header announced.
  void write(const void* data, std::size_t bytes);

  /// Completes the file; aborts if bytes are missing. The first error, or nothing.
  std::optional<std::string> finish();

  /// Of the file as far as it is written, the header included.
  std::uint64_t bytes() const { return bytes_; }
  const Fnv1a& digest() const { return digest_; }

 private:
  void append(const void* data, std::size_t bytes);

  AtomicFile file_;
  Fnv1a digest_;
  std::uint64_t bytes_ = 0;
  std::uint64_t remaining_bytes_ = 0;
};

/// "[2, 3]"; of more than eight extents the first eight.
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace shardscope
