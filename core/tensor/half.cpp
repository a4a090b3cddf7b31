#include "core/tensor/half.h"

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/check.h"

#if defined(__AVX2__) || defined(__F16C__)
#include <immintrin.h>
#endif

// Eigen converts these types one by one unless its packet casts apply, which they do not here: five
// times slower than the loops below, in which the compiler (bf16) or F16C (fp16) does eight at
// once.

namespace shardscope {
namespace {

void load_bf16(const std::uint16_t* source, float* destination, std::size_t count) {
  std::size_t i = 0;
#if defined(__AVX2__)
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16);
    _mm256_storeu_ps(destination + i, _mm256_castsi256_ps(bits));
  }
#endif
  for (; i < count; ++i) {
    destination[i] = std::bit_cast<float>(static_cast<std::uint32_t>(source[i]) << 16);
  }
}

std::uint16_t round_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet_nan = 0x7FC0 | ((bits >> 16) & 0x8000);
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded);
}

#if defined(__AVX2__)
// The same for eight, each in the lower half of its 32 bits.
__m256i round_to_bf16(__m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
  const __m256i sign = _mm256_and_si256(upper, _mm256_set1_epi32(0x8000));
  const __m256i quiet_nan = _mm256_or_si256(sign, _mm256_set1_epi32(0x7FC0));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, quiet_nan, is_nan);
}
#endif

void store_bf16(const float* source, std::uint16_t* destination, std::size_t count) {
  std::size_t i = 0;
#if defined(__AVX2__)
  for (; i + 16 <= count; i += 16) {
    const __m256i low = round_to_bf16(_mm256_loadu_ps(source + i));
    const __m256i high = round_to_bf16(_mm256_loadu_ps(source + i + 8));
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(destination + i), packed);
  }
#endif
  for (; i < count; ++i) {
    destination[i] = round_to_bf16(source[i]);
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
    case DType::uint8:
      break;
  }
  SHARDSCOPE_CHECK(false, "arithmetic on a type that has none");
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
    case DType::uint8:
      break;
  }
  SHARDSCOPE_CHECK(false, "arithmetic on a type that has none");
}

}  // namespace shardscope
