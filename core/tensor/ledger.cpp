#include "core/tensor/ledger.h"

#include <algorithm>
#include <string>

#include "core/check.h"

namespace shardscope {

OutOfMemory::OutOfMemory(Category category, std::uint64_t wanted_bytes, std::uint64_t free_bytes)
    : std::runtime_error("out of memory: " + std::string(name(category)) + " wants " +
                         std::to_string(wanted_bytes) + " bytes, " + std::to_string(free_bytes) +
                         " are free"),
      category(category),
      wanted_bytes(wanted_bytes),
      free_bytes(free_bytes) {}

void MemoryLedger::allocate(Category category, std::uint64_t bytes) {
  const std::uint64_t free = capacity_ - current_total_;
  if (bytes > free) {
    throw OutOfMemory(category, bytes, free);
  }
  const auto index = static_cast<std::size_t>(category);
  current_[index] += bytes;
  current_total_ += bytes;
  peak_[index] = std::max(peak_[index], current_[index]);
  peak_total_ = std::max(peak_total_, current_total_);
}

void MemoryLedger::release(Category category, std::uint64_t bytes) {
  const auto index = static_cast<std::size_t>(category);
  SHARDSCOPE_CHECK(bytes <= current_[index], "more memory is released than was allocated");
  current_[index] -= bytes;
  current_total_ -= bytes;
}

}  // namespace shardscope
