// Whether the tests run under AddressSanitizer, where they take many times as long.
#pragma once

namespace shardscope::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace shardscope::testing
