// Work on files that are not trusted, in a child process with limits: a parser that crashes, does
// not end or wants too much memory ends there.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "sim/process/child.h"

namespace shardscope {

struct ChildLimits {
  std::size_t memory_bytes =
      0;  ///< More than the parent has. Without effect under AddressSanitizer.
  std::chrono::seconds time{0};
};

/// As run_in_child(). A limit that is met is a failure that says so.
ChildResult run_in_limited_child(const ChildLimits& limits,
                                 const std::function<std::string()>& work);

}  // namespace shardscope
