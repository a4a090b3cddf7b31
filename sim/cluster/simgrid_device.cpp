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

// s4u::this_actor::execute, safe on several threads: SimGrid 3.32 enters a new execution in a table
// that all hosts share, without a lock.
void execute(double flops) {
  static std::mutex mutex;  // Never held across a simcall.
  s4u::ExecPtr execution;
  {
    const std::lock_guard lock(mutex);
    execution = s4u::Exec::init();
  }
  execution->set_flops_amount(flops)->set_host(s4u::this_actor::get_host())->wait();
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
             Timeline& timeline)
      : collective_(std::move(collective)), job_(std::move(job)), timeline_(timeline) {}

  void wait(Phase phase) override {
    job_->done->acquire();
    timeline_.waited(phase, now());
    collective_.reset();
  }

 private:
  std::unique_ptr<Collective> collective_;
  std::shared_ptr<Stream::Job> job_;
  Timeline& timeline_;
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

void SimGridDevice::compute(Phase phase, Cost cost) {
  const KernelTime time = kernel_time(spec_, cost);
  (time.is_memory_bound() ? limits_.memory_s : limits_.flops_s) += time.total_s() - time.launch_s;
  limits_.launch_s += time.launch_s;
  execute(time.total_s() * kHostSpeed);
  timeline_.computed(phase, now());
}

std::unique_ptr<Work> SimGridDevice::enqueue(std::unique_ptr<Collective> collective) {
  std::shared_ptr<Stream::Job> job = stream_->push(*collective);
  return std::make_unique<StreamWork>(std::move(collective), std::move(job), timeline_);
}

}  // namespace shardscope
