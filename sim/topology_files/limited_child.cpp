#include "sim/topology_files/limited_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <optional>
#include <stdexcept>

namespace shardscope {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // It reserves terabytes of addresses.
#else
constexpr bool kSanitized = false;
#endif

std::size_t used_bytes() {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) {
      pages = 0;
    }
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void set_limits(std::size_t memory_bytes) {
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!kSanitized) {
    const rlim_t most = used_bytes() + memory_bytes;
    const rlimit memory{.rlim_cur = most, .rlim_max = most};
    setrlimit(RLIMIT_AS, &memory);
  }
}

}  // namespace

ChildResult run_in_limited_child(const ChildLimits& limits,
                                 const std::function<std::string()>& work) {
  const auto limited_work = [&] {
    set_limits(limits.memory_bytes);
    try {
      return work();
    } catch (const std::bad_alloc&) {
      throw std::runtime_error("needs more than " + std::to_string(limits.memory_bytes >> 20) +
                               " MiB of memory");
    }
  };
  ChildPool pool;
  if (const std::optional<std::string> reason = pool.start(0, limited_work)) {
    return {.ok = false, .output = "", .failure = *reason};
  }
  const auto end = std::chrono::steady_clock::now() + limits.time;
  while (std::chrono::steady_clock::now() < end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (std::optional<ChildPool::Ended> ended = pool.wait(left + std::chrono::milliseconds(1))) {
      return std::move(ended->result);
    }
  }
  return {.ok = false,
          .output = "",
          .failure = "takes longer than " + std::to_string(limits.time.count()) + " s"};
}

}  // namespace shardscope
