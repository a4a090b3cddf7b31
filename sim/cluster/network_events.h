// What happens on SimGrid's network, told as it happens: calls come from SimGrid's own context
// (maestro), one after another and in the same order in every run. An actor that waited for each
// message would cost several switches of stacks, most of them cold where ranks are many.
//
//   transfer()                     at()
//      | the last byte leaves        | the date comes
//   left() of all of that date,   rings()
//   then gone() of each
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <unordered_map>
#include <vector>

namespace simgrid::s4u {
class Host;
}
namespace simgrid::kernel::activity {
class ActivityImpl;
}

namespace shardscope {

class NetworkEvents {
 public:
  class Transfer {
   public:
    /// The last byte has left. All transfers that end at this date are told before what one of them
    /// was for goes on: nothing may begin yet.
    virtual void left() = 0;
    virtual void gone() {}

   protected:
    ~Transfer() = default;
  };

  class Alarm {
   public:
    virtual void rings() = 0;

   protected:
    ~Alarm() = default;
  };

  /// One for each engine, which must exist; it must outlive the engine's run.
  NetworkEvents();
  NetworkEvents(const NetworkEvents&) = delete;
  NetworkEvents& operator=(const NetworkEvents&) = delete;

  /// Begins now; none of 0 bytes is left at once. In maestro's context, as at().
  void transfer(simgrid::s4u::Host& from, simgrid::s4u::Host& to, std::uint64_t bytes,
                Transfer& transfer);

  /// `date_s` must not be past.
  void at(double date_s, Alarm& alarm);

  /// Nothing is told from now on.
  void stop() { stopped_ = true; }

 private:
  void find_ended();
  void end_empty();
  void go_on(std::vector<Transfer*>& ended);
  void ring(double date_s);

  bool stopped_ = false;
  // In memory of its own: SimGrid walks a list of all communications under way whenever one ends,
  // which is several times faster if nothing lies between the list's nodes.
  std::pmr::unsynchronized_pool_resource memory_;
  std::pmr::unordered_map<const simgrid::kernel::activity::ActivityImpl*, Transfer*> under_way_{
      &memory_};
  std::vector<Transfer*> ended_;                  // At the date that has come.
  std::vector<Transfer*> empty_;                  // Of no bytes.
  std::map<double, std::vector<Alarm*>> alarms_;  // By date, in the order in which they were set.
};

}  // namespace shardscope
