// The memory of one simulated rank: what every tensor it owns costs, by category.
//
// Not thread-safe: a ledger belongs to one rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace shardscope {

enum class Category {
  parameters,
  gradients,
  master_weights,
  first_moment,
  second_moment,
  activations,
  gathered_parameters,
  communication_buckets,
  inputs,
};

inline constexpr std::size_t kCategoryCount = 9;

/// The model states of the ZeRO paper: the first five categories.
inline constexpr std::size_t kStateCategoryCount = 5;

/// Names in the order of the enumeration, as reports spell them.
inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {
    "parameters",  "gradients",           "master_weights",        "first_moment", "second_moment",
    "activations", "gathered_parameters", "communication_buckets", "inputs"};

constexpr std::string_view name(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

/// Bytes per category.
using CategoryBytes = std::array<std::uint64_t, kCategoryCount>;

/// An allocation that does not fit on the rank's device. A result of the simulation, not a fault.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(Category category, std::uint64_t wanted_bytes, std::uint64_t free_bytes);

  Category category;
  std::uint64_t wanted_bytes;
  std::uint64_t free_bytes;
};

class MemoryLedger {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  explicit MemoryLedger(std::uint64_t capacity_bytes = kUnlimited) : capacity_(capacity_bytes) {}

  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// Throws OutOfMemory, changing nothing, if the bytes exceed what is free.
  void allocate(Category category, std::uint64_t bytes);

  /// Aborts if more is released than was allocated in the category.
  void release(Category category, std::uint64_t bytes);

  std::uint64_t capacity() const { return capacity_; }

  /// Bytes held now, and the most ever held at once, per category.
  const CategoryBytes& current() const { return current_; }
  const CategoryBytes& peak() const { return peak_; }

  /// The same for the sum over categories; the peak of the sum is at most the sum of the peaks.
  std::uint64_t current_total() const { return current_total_; }
  std::uint64_t peak_total() const { return peak_total_; }

 private:
  std::uint64_t capacity_;
  CategoryBytes current_{};
  CategoryBytes peak_{};
  std::uint64_t current_total_ = 0;
  std::uint64_t peak_total_ = 0;
};

}  // namespace shardscope
