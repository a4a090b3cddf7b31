#include "core/tensor/buffer.h"

#include <cstring>
#include <new>
#include <utility>

namespace shardscope {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* allocate(std::size_t bytes, Contents contents) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  if (contents == Contents::zero) {
    std::memset(memory, 0, rounded);
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

Buffer::Buffer(MemoryLedger& ledger, Category category, DType dtype, std::size_t count,
               Storage storage, Contents contents)
    : category_(category), dtype_(dtype), count_(count) {
  ledger.allocate(category, count * size_of(dtype));
  ledger_ = &ledger;
  if (storage == Storage::real) {
    data_ = allocate(count * size_of(dtype), contents);
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      category_(other.category_),
      dtype_(other.dtype_),
      count_(std::exchange(other.count_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    ledger_ = std::exchange(other.ledger_, nullptr);
    category_ = other.category_;
    dtype_ = other.dtype_;
    count_ = std::exchange(other.count_, 0);
    data_ = std::exchange(other.data_, nullptr);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() {
  if (ledger_ != nullptr) {
    ledger_->release(category_, count_ * size_of(dtype_));
    ledger_ = nullptr;
  }
  std::free(data_);
  data_ = nullptr;
}

}  // namespace shardscope
