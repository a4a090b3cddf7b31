#include "core/tensor/buffer.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace shardscope {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

Buffer::Buffer(MemoryLedger& ledger, Category category, DType dtype, std::size_t count,
               Storage storage, Contents contents)
    : category_(category), dtype_(dtype), count_(count) {
  ledger.allocate(category, count * size_of(dtype));
  ledger_ = &ledger;
  if (storage == Storage::real) {
    allocate(contents);
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      category_(other.category_),
      dtype_(other.dtype_),
      count_(std::exchange(other.count_, 0)),
      block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    ledger_ = std::exchange(other.ledger_, nullptr);
    category_ = other.category_;
    dtype_ = other.dtype_;
    count_ = std::exchange(other.count_, 0);
    block_ = std::exchange(other.block_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

// calloc knows which memory comes fresh and zero from the system and need not be written. The block
// is aligned by hand.
void Buffer::allocate(Contents contents) {
  const std::size_t bytes = count_ * size_of(dtype_) + kAlignment;
  block_ = contents == Contents::zero ? std::calloc(1, bytes) : std::malloc(bytes);
  if (block_ == nullptr) {
    release();
    throw std::bad_alloc();
  }
  const auto address = reinterpret_cast<std::uintptr_t>(block_);
  data_ = static_cast<std::byte*>(block_) + (kAlignment - address % kAlignment);
}

void Buffer::release() {
  if (ledger_ != nullptr) {
    ledger_->release(category_, count_ * size_of(dtype_));
    ledger_ = nullptr;
  }
  std::free(block_);
  block_ = nullptr;
  data_ = nullptr;
}

}  // namespace shardscope
