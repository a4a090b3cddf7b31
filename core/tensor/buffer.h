// Typed memory that a simulated rank owns, registered with the rank's ledger for as long as it
// lives.
#pragma once

#include <cstddef>

#include "core/tensor/ledger.h"
#include "core/tensor/tensor.h"

namespace shardscope {

/// Whether tensors have storage. Shape-only runs give the same times and bytes, and no losses.
enum class Storage { real, shape_only };

/// What real storage holds at first. Undefined is for buffers that are written before they are
/// read.
enum class Contents { zero, undefined };

class Buffer {
 public:
  /// An empty buffer of no bytes.
  Buffer() = default;

  /// Registers count elements with the ledger, which must outlive the buffer; throws OutOfMemory if
  /// they do not fit. Real storage is 64-byte aligned.
  Buffer(MemoryLedger& ledger, Category category, DType dtype, std::size_t count, Storage storage,
         Contents contents = Contents::zero);

  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  /// All of it, or some elements. The view is valid while the buffer lives.
  Tensor tensor() const { return {data_, dtype_, count_}; }
  Tensor slice(std::size_t offset, std::size_t length) const {
    return tensor().slice(offset, length);
  }

  std::size_t size() const { return count_; }

 private:
  void allocate(Contents contents);
  void release();

  MemoryLedger* ledger_ = nullptr;
  Category category_ = Category::parameters;
  DType dtype_ = DType::fp32;
  std::size_t count_ = 0;
  void* block_ = nullptr;  // As the allocator gave it; data_ is the first aligned byte in it.
  std::byte* data_ = nullptr;
};

}  // namespace shardscope
