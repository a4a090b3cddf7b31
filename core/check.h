// Invariants. A broken one is a bug of ours: it aborts, in every build, saying where and what.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace shardscope {

/// The path from the project's folder on: a message should not depend on where that lies.
inline const char* path_in_project(const char* file) {
  const std::string_view path(file);
  for (const std::string_view folder : {"core/", "sim/"}) {
    const std::size_t found = path.rfind(folder);
    if (found != std::string_view::npos) {
      return file + found;
    }
  }
  return file;
}

[[noreturn]] inline void check_failed(const char* condition, const char* message, const char* file,
                                      int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", path_in_project(file), line, message,
               condition);
  std::abort();
}

}  // namespace shardscope

#define SHARDSCOPE_CHECK(condition, message)                               \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::shardscope::check_failed(#condition, message, __FILE__, __LINE__); \
    }                                                                      \
  } while (false)
