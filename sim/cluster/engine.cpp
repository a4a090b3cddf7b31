#include "sim/cluster/engine.h"

#include <csignal>
#include <simgrid/s4u/Engine.hpp>
#include <string>
#include <vector>

#include "core/check.h"
#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // The sanitizers follow threads, not hand-made contexts.
#else
constexpr bool kSanitized = false;
#endif

// An actor each, and two mappings for each actor's stack.
constexpr int kMostGuardedRanks = 16'000;

// The arguments SimGrid's engine takes its configuration from.
std::vector<std::string> engine_arguments(int threads, int ranks) {
  std::vector<std::string> arguments = {
      "shardscope", "--log=xbt_cfg.thresh:warning ker_engine.thresh:error",
      "--cfg=contexts/nthreads:" + std::to_string(threads), "--cfg=contexts/synchro:posix",
      "--cfg=debug/verbose-exit:no"};
  for (const auto& [name, value] : simgrid_settings()) {
    arguments.push_back("--cfg=" + name + ":" + value);
  }
  if (ranks > kMostGuardedRanks) {
    arguments.emplace_back("--cfg=contexts/guard-size:0");
    arguments.emplace_back("--cfg=contexts/stack-size:128");  // KiB
  }
  if (kSanitized) {
    arguments.emplace_back("--cfg=contexts/factory:thread");
  }
  return arguments;
}

// SimGrid's engine takes over what Ctrl-C does, with a handler that looks at its state from
// wherever the program is: what was arranged before is kept.
class KeptInterruptHandler {
 public:
  KeptInterruptHandler() { sigaction(SIGINT, nullptr, &before_); }
  void restore() const { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace

std::unique_ptr<s4u::Engine> make_engine(int threads, int ranks) {
  std::vector<std::string> arguments = engine_arguments(threads, ranks);
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  const KeptInterruptHandler interrupt;
  auto engine = std::make_unique<s4u::Engine>(&argc, argv.data());
  interrupt.restore();
  s4u::Engine::on_deadlock_cb(
      [] { check_failed("no deadlock", "ranks wait for each other", __FILE__, __LINE__); });
  return engine;
}

}  // namespace shardscope
