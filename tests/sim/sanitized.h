// Whether the tests run under AddressSanitizer: it reserves terabytes of address space, and SimGrid
// then needs a thread per actor, so that many ranks take minutes.
#pragma once

namespace shardscope::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace shardscope::testing
