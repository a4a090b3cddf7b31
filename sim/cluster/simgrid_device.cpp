#include "sim/cluster/simgrid_device.h"

#include <deque>
#include <mutex>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Exec.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Semaphore.hpp>
#include <utility>

#include "sim/cluster/network.h"
#include "sim/cluster/roofline.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

double now() { return s4u::Engine::get_clock(); }

// SimGrid 3.32 registers a callback in a global map when an execution is made, without a lock: two
// ranks on two threads must not make one at the same time.
s4u::ExecPtr make_execution() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return s4u::Exec::init();
}

}  // namespace

// The queue of collectives and the body of the actor that runs them one after another. Shared by
// the device and the actor, so that either may end first.
class SimGridDevice::Stream {
 public:
  // A collective and the signal that it is done.
  struct Job {
    Collective* collective;
    s4u::SemaphorePtr done = s4u::Semaphore::create(0);
  };

  Stream(Transport& transport, Timeline& timeline) : transport_(transport), timeline_(timeline) {}

  std::shared_ptr<Job> push(Collective& collective) {
    auto job = std::make_shared<Job>(Job{&collective});
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    available_->release();
    return job;
  }

  // Never returns: SimGrid ends the actor when all ranks are done.
  [[noreturn]] void run() {
    while (true) {
      const std::shared_ptr<Job> job = next();
      const double begin_s = now();
      job->collective->run(transport_);
      timeline_.add_busy(now() - begin_s);
      job->done->release();
    }
  }

 private:
  std::shared_ptr<Job> next() {
    available_->acquire();
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  Transport& transport_;
  Timeline& timeline_;
  s4u::SemaphorePtr available_ = s4u::Semaphore::create(0);
  std::mutex mutex_;  // Both streams may run at once; never held across a simcall.
  std::deque<std::shared_ptr<Job>> jobs_;
};

class SimGridDevice::StreamWork final : public Work {
 public:
  StreamWork(std::unique_ptr<Collective> collective, std::shared_ptr<Stream::Job> job,
             SimGridDevice& device)
      : collective_(std::move(collective)), job_(std::move(job)), device_(device) {}

  void wait() override {
    device_.synchronize();
    job_->done->acquire();
    device_.timeline().waited(device_.position().phase, now());
    collective_.reset();
  }

 private:
  std::unique_ptr<Collective> collective_;
  std::shared_ptr<Stream::Job> job_;
  SimGridDevice& device_;
};

SimGridDevice::SimGridDevice(const DeviceSpec& spec, Transport& transport)
    : spec_(spec),
      memory_(spec.memory_bytes),
      stream_(std::make_shared<Stream>(transport, timeline_)) {
  s4u::Host* host = s4u::this_actor::get_host();
  s4u::Actor::create(host->get_name() + ".communication", host, [stream = stream_] {
    stream->run();
  })->daemonize();
}

SimGridDevice::~SimGridDevice() = default;

void SimGridDevice::compute(std::string_view /*kernel*/, Cost cost) {
  const KernelTime time = kernel_time(spec_, cost);
  (time.is_memory_bound() ? limits_.memory_s : limits_.flops_s) += time.total_s() - time.launch_s;
  limits_.launch_s += time.launch_s;
  launched_.push_back({position().phase, time.total_s()});
}

void SimGridDevice::synchronize() {
  if (launched_.empty()) {
    return;
  }
  double seconds = 0;
  for (const Kernel& kernel : launched_) {
    seconds += kernel.seconds;
  }
  const double begin_s = now();
  make_execution()
      ->set_flops_amount(seconds * kHostSpeed)
      ->set_host(s4u::this_actor::get_host())
      ->wait();
  // One after another, the last one ending now.
  double until_s = begin_s;
  for (const Kernel& kernel : launched_) {
    until_s += kernel.seconds;
    timeline_.computed(kernel.phase, &kernel == &launched_.back() ? now() : until_s);
  }
  launched_.clear();
}

std::unique_ptr<Work> SimGridDevice::enqueue(std::unique_ptr<Collective> collective) {
  synchronize();
  std::shared_ptr<Stream::Job> job = stream_->push(*collective);
  return std::make_unique<StreamWork>(std::move(collective), std::move(job), *this);
}

}  // namespace shardscope
