// Hashes that name contents: FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "sim/scenario/scenario.h"

namespace shardscope {

class Fnv1a {
 public:
  void add(const void* bytes, std::size_t count);
  std::uint64_t value() const { return hash_; }
  /// 16 lower-case hexadecimal digits.
  std::string hex() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// Of a file's bytes; nothing if it cannot be read.
std::optional<std::string> file_digest(const std::filesystem::path& path);

/// Of the resolved content: every field but the digest itself, in a fixed order. The device counts
/// by its figures, not by its preset's name; weights and data files by the digests of their bytes,
/// not by their paths, so that moving them changes nothing.
std::string scenario_digest(const Scenario& scenario, const std::string& weights_file_digest,
                            const std::string& data_file_digest);

}  // namespace shardscope
