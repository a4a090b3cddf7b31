// FNV-1a, 64 bits (Fowler, Noll, Vo): a fingerprint of bytes. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shardscope {

class Fnv1a {
 public:
  void update(const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) {
      hash_ = (hash_ ^ byte[i]) * 0x100000001B3ULL;
    }
  }

  std::uint64_t value() const { return hash_; }

  /// 16 hexadecimal digits.
  std::string hex() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (int i = 0; i < 16; ++i) {
      text[static_cast<std::size_t>(15 - i)] = kDigits[(hash_ >> (4 * i)) & 0xF];
    }
    return text;
  }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace shardscope
