// SimGrid's engine, set up as all simulations here want it.
#pragma once

#include <memory>

namespace simgrid::s4u {
class Engine;
}

namespace shardscope {

/// Quiet, with simgrid_settings.h's, so many threads for the actors' own work, and the handler of
/// SIGINT that was there before. Aborts when actors wait for each other. Once per process. With
/// many ranks their stacks are small and unguarded: Linux limits a process to 65530 mappings.
std::unique_ptr<simgrid::s4u::Engine> make_engine(int threads, int ranks);

}  // namespace shardscope
