// Work in a process of its own: SimGrid's engine starts once per process, and a crash stays there.
#pragma once

#include <functional>
#include <string>

namespace shardscope {

struct ChildResult {
  bool ok = false;
  std::string output;   ///< What `work` returned.
  std::string failure;  ///< Why there is none: "killed by signal 9 (Killed)".
};

/// Calls `work` in a child process, a copy of the caller, and returns the text it made. The caller
/// should be small and hold no threads. The child ends with its parent, however that ends.
ChildResult run_in_child(const std::function<std::string()>& work);

}  // namespace shardscope
