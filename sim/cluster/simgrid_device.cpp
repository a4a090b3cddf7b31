#include "sim/cluster/simgrid_device.h"

#include <deque>
#include <mutex>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Exec.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Semaphore.hpp>
#include <utility>

#include "sim/cluster/platform.h"
#include "sim/result/result.pb.h"

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

// The queue of collectives, one of which is under way. The rank's actor adds to it, maestro takes
// from it: never at once.
class SimGridDevice::Stream {
 public:
  // A collective, which lives until it is done and waited for or forgotten, and the signal that it
  // is done.
  struct Job {
    std::unique_ptr<Collective> collective;
    RecordedCollective* recorded;  // Null if it is not recorded.
    s4u::SemaphorePtr done = s4u::Semaphore::create(0);
    double begin_s = 0;
  };

  /// `slows`: kernels run slower while a collective is in flight.
  Stream(RankTraffic& traffic, Exchange& exchange, Timeline& timeline, bool slows)
      : traffic_(traffic),
        exchange_(exchange),
        timeline_(timeline),
        host_(*s4u::this_actor::get_host()),
        slows_(slows) {}

  std::shared_ptr<Job> push(std::unique_ptr<Collective> collective, RecordedCollective* recorded) {
    auto job = std::make_shared<Job>(Job{std::move(collective), recorded});
    jobs_.push_back(job);
    if (current_ == nullptr) {
      begin_next();
    }
    return job;
  }

 private:
  void begin_next() {
    current_ = std::move(jobs_.front());
    jobs_.pop_front();
    Job& job = *current_;
    job.begin_s = now();
    set_host_state(kHostBesideCommunication);
    const bool records_transfers = job.recorded != nullptr && !job.recorded->transfers_cut();
    exchange_.begin(*job.collective, traffic_, records_transfers ? job.recorded : nullptr,
                    [this] { finish(); });
  }

  // The one under way is over.
  void finish() {
    const std::shared_ptr<Job> job = std::exchange(current_, nullptr);
    set_host_state(kHostAlone);
    const double end_s = now();
    timeline_.add_busy(end_s - job->begin_s);
    if (job->recorded != nullptr) {
      job->recorded->set_begin_s(job->begin_s);
      job->recorded->set_end_s(end_s);
    }
    job->done->release();
    if (!jobs_.empty()) {
      begin_next();
    }
  }

  void set_host_state(HostState state) const {
    if (slows_) {
      host_.set_pstate(state);
    }
  }

  RankTraffic& traffic_;
  Exchange& exchange_;
  Timeline& timeline_;
  s4u::Host& host_;
  bool slows_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::shared_ptr<Job> current_;  // Under way.
};

class SimGridDevice::StreamWork final : public Work {
 public:
  StreamWork(std::shared_ptr<Stream::Job> job, SimGridDevice& device)
      : job_(std::move(job)), device_(device) {}

  void wait() override {
    device_.synchronize();
    const double begin_s = now();
    job_->done->acquire();
    device_.timeline().waited(device_.position().phase, now());
    if (job_->recorded != nullptr) {
      device_.recorder_.wait(device_.position(), *job_->recorded, begin_s, now());
    }
    job_->collective.reset();
  }

 private:
  std::shared_ptr<Stream::Job> job_;
  SimGridDevice& device_;
};

SimGridDevice::SimGridDevice(const DeviceSpec& spec, Host host, bool speed_changes,
                             RankTraffic& traffic, Exchange& exchange, Recorder& recorder)
    : spec_(spec),
      host_(host),
      speed_changes_(speed_changes),
      host_speed_(s4u::this_actor::get_host()->get_speed()),
      exchange_(exchange),
      recorder_(recorder),
      memory_(spec.memory_bytes),
      stream_(std::make_unique<Stream>(traffic, exchange, timeline_,
                                       spec.communication_slowdown > 1)) {}

SimGridDevice::~SimGridDevice() = default;

void SimGridDevice::compute(std::string_view kernel, Cost cost) {
  const KernelTime time = kernel_time(spec_, cost);
  (time.is_memory_bound() ? limits_.memory_s : limits_.flops_s) += time.total_s() - time.launch_s;
  limits_.launch_s += time.launch_s;
  launched_.push_back({position(), kernel, cost, time});
}

void SimGridDevice::on_host(std::string_view kernel, HostWork work) {
  const auto bytes = static_cast<double>(work.link_bytes);
  const double seconds = bytes / host_.link_bytes_per_s +
                         static_cast<double>(work.updated_parameters) / host_.adam_parameters_per_s;
  limits_.host_s += seconds;
  launched_.push_back({position(),
                       kernel,
                       {.flops = 0, .bytes = bytes},
                       {.flops_s = 0, .memory_s = 0, .launch_s = seconds}});
}

void SimGridDevice::synchronize() {
  if (launched_.empty()) {
    return;
  }
  if (speed_changes_ || spec_.communication_slowdown > 1) {
    run_one_by_one();
    return;
  }
  double seconds = 0;
  for (const Kernel& kernel : launched_) {
    seconds += kernel.time.total_s();
  }
  const double begin_s = now();
  s4u::this_actor::sleep_for(seconds);  // An execution would take as long, and more of our time.
  // One after another, the last one ending now.
  double from_s = begin_s;
  for (const Kernel& kernel : launched_) {
    const double until_s = &kernel == &launched_.back() ? now() : from_s + kernel.time.total_s();
    timeline_.computed(kernel.position.phase, until_s);
    recorder_.kernel(kernel.position, kernel.name, kernel.cost, kernel.time, from_s, until_s);
    from_s = until_s;
  }
  launched_.clear();
}

// Where the host's speed changes, only the simulation knows when each of them ends.
void SimGridDevice::run_one_by_one() {
  for (const Kernel& kernel : launched_) {
    const double begin_s = now();
    make_execution()
        ->set_flops_amount(kernel.time.total_s() * host_speed_)
        ->set_host(s4u::this_actor::get_host())
        ->wait();
    timeline_.computed(kernel.position.phase, now());
    recorder_.kernel(kernel.position, kernel.name, kernel.cost, kernel.time, begin_s, now());
  }
  launched_.clear();
}

void SimGridDevice::saved(std::uint64_t bytes, const SavePoint::Saved& saved) {
  timeline_.computed(position().phase, now());
  // No faster for a faster device.
  const KernelTime time{.flops_s = 0, .memory_s = 0, .launch_s = saved.end_s - saved.begin_s};
  recorder_.kernel(position(), "save", {.bytes = static_cast<double>(bytes)}, time, saved.begin_s,
                   saved.end_s);
}

std::unique_ptr<Work> SimGridDevice::enqueue(std::unique_ptr<Collective> collective) {
  synchronize();
  RecordedCollective* recorded =
      recorder_.enqueue(position(), *collective, exchange_.as_flows(*collective), now());
  return std::make_unique<StreamWork>(stream_->push(std::move(collective), recorded), *this);
}

}  // namespace shardscope
