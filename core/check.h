// Invariants. A broken one is a bug of ours: it aborts, in every build, saying where and what.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace shardscope {

[[noreturn]] inline void check_failed(const char* condition, const char* message, const char* file,
                                      int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace shardscope

#define SHARDSCOPE_CHECK(condition, message)                               \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::shardscope::check_failed(#condition, message, __FILE__, __LINE__); \
    }                                                                      \
  } while (false)
