// Work in a process of its own: SimGrid's engine starts once per process, and a crash stays there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardscope {

struct ChildResult {
  bool ok = false;
  std::string output;   ///< What `work` returned.
  std::string failure;  ///< Why there is none: "killed by signal 9 (Killed)".
};

/// Calls `work` in a child process, a copy of the caller, and returns the text it made. The caller
/// should be small and hold no threads. The child ends with its parent, however that ends.
ChildResult run_in_child(const std::function<std::string()>& work);

/// Several such children side by side, each known by a number of its caller's.
class ChildPool {
 public:
  struct Ended {
    std::size_t id = 0;
    ChildResult result;
  };

  ChildPool() = default;
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  /// Kills those that still run.
  ~ChildPool();

  /// Calls `work` in a child. Why there is no child, or nothing.
  std::optional<std::string> start(std::size_t id, const std::function<std::string()>& work);

  /// Waits until a child ends, but no longer than the time given nor past a signal to the caller.
  std::optional<Ended> wait(std::chrono::milliseconds longest);

  std::size_t running() const { return children_.size(); }

 private:
  struct Child {
    std::size_t id = 0;
    pid_t process = -1;
    int descriptor = -1;  ///< Its output comes from here.
    std::string output;
  };

  std::vector<Child> children_;
};

}  // namespace shardscope
