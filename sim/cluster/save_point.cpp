#include "sim/cluster/save_point.h"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <utility>

namespace shardscope {
namespace {

double now() { return simgrid::s4u::Engine::get_clock(); }

}  // namespace

SavePoint::SavePoint(const CheckpointSpec& spec, int ranks, Write write)
    : spec_(spec),
      barrier_(simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))),
      write_(std::move(write)),
      ranks_(ranks) {}

SavePoint::Saved SavePoint::save(std::uint64_t bytes) {
  const bool is_last = ++arrived_ == ranks_;
  barrier_->wait();
  if (is_last) {
    arrived_ = 0;
    error_ = write_();
  }
  barrier_->wait();
  if (error_.has_value()) {
    throw CheckpointFailed(*error_);
  }
  Saved saved{.begin_s = now(), .end_s = now()};
  if (bytes > 0) {
    simgrid::s4u::this_actor::sleep_for(static_cast<double>(bytes) / spec_.bandwidth_bytes_per_s);
    saved.end_s = now();
  }
  barrier_->wait();
  return saved;
}

}  // namespace shardscope
