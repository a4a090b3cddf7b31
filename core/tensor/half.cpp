#include "core/tensor/half.h"

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/check.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

// Eigen converts these types one by one unless its packet casts apply, which they do not here: five
// times slower than the loops below, in which the compiler (bf16) or F16C (fp16) does eight at
// once.

namespace shardscope {
namespace {

void load_bf16(const std::uint16_t* __restrict source, float* __restrict destination,
               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    destination[i] = std::bit_cast<float>(static_cast<std::uint32_t>(source[i]) << 16);
  }
}

void store_bf16(const float* __restrict source, std::uint16_t* __restrict destination,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(source[i]);
    const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    const std::uint32_t quiet_nan = 0x7FC0 | ((bits >> 16) & 0x8000);
    const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    destination[i] = static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded);
  }
}

void load_fp16(const std::uint16_t* source, float* destination, std::size_t count) {
  std::size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    _mm256_storeu_ps(destination + i, _mm256_cvtph_ps(half));
  }
#endif
  for (; i < count; ++i) {
    destination[i] = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(source[i]));
  }
}

void store_fp16(const float* source, std::uint16_t* destination, std::size_t count) {
  std::size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(destination + i), half);
  }
#endif
  for (; i < count; ++i) {
    destination[i] = Eigen::numext::bit_cast<std::uint16_t>(static_cast<Eigen::half>(source[i]));
  }
}

}  // namespace

void load_fp32(DType dtype, const std::byte* source, float* destination, std::size_t count) {
  switch (dtype) {
    case DType::fp32:
      std::memcpy(destination, source, count * sizeof(float));
      return;
    case DType::bf16:
      load_bf16(reinterpret_cast<const std::uint16_t*>(source), destination, count);
      return;
    case DType::fp16:
      load_fp16(reinterpret_cast<const std::uint16_t*>(source), destination, count);
      return;
    case DType::int64:
      break;
  }
  SHARDSCOPE_CHECK(false, "arithmetic on labels");
}

void store_fp32(DType dtype, const float* source, std::byte* destination, std::size_t count) {
  switch (dtype) {
    case DType::fp32:
      std::memcpy(destination, source, count * sizeof(float));
      return;
    case DType::bf16:
      store_bf16(source, reinterpret_cast<std::uint16_t*>(destination), count);
      return;
    case DType::fp16:
      store_fp16(source, reinterpret_cast<std::uint16_t*>(destination), count);
      return;
    case DType::int64:
      break;
  }
  SHARDSCOPE_CHECK(false, "arithmetic on labels");
}

}  // namespace shardscope
