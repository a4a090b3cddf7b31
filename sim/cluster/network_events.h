// What happens on SimGrid's network, told as it happens: calls come from SimGrid's own context
// (maestro), one after another and in the same order in every run. An actor that waited for each
// message would cost several switches of stacks, most of them cold where ranks are many.
//
//   transfer()                     at()
//      | the last byte leaves        | the date comes
//   left() of all of that date,   rings()
//   then gone() of each
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simgrid::s4u {
class Host;
class Link;
}  // namespace simgrid::s4u
namespace simgrid::kernel::resource {
class Action;
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

  /// One for each engine, which must exist; it must outlive the engine's run. `steady_links` is the
  /// platform's.
  explicit NetworkEvents(bool steady_links);
  NetworkEvents(const NetworkEvents&) = delete;
  NetworkEvents& operator=(const NetworkEvents&) = delete;

  /// Begins now; none of 0 bytes is left at once. In maestro's context, as at(). As `times`
  /// transfers of so many bytes each that share their links, which end together; more than one with
  /// steady links only.
  void transfer(simgrid::s4u::Host& from, simgrid::s4u::Host& to, std::uint64_t bytes,
                Transfer& transfer, int times = 1);

  /// `date_s` must not be past.
  void at(double date_s, Alarm& alarm);

  /// Nothing is told from now on.
  void stop() { stopped_ = true; }

 private:
  using Action = simgrid::kernel::resource::Action;
  using Ends = std::pair<const simgrid::s4u::Host*, const simgrid::s4u::Host*>;

  struct Way;

  // A communication's action. SimGrid walks a list of all communications whenever one ends, so that
  // cost would grow with the square of what is under way. Therefore one is kept when its bytes have
  // left, and carries the next transfer between its hosts: its communication never ends.
  struct Carrier {
    Action* action = nullptr;
    Way* way = nullptr;
    Transfer* transfer = nullptr;
  };

  // From a host to another.
  struct Way {
    std::vector<Carrier*> idle;
    std::vector<simgrid::s4u::Link*> links;  // Once an action carries on.
  };

  struct HashOfEnds {
    std::size_t operator()(const Ends& ends) const;
  };

  Carrier& start(simgrid::s4u::Host& from, simgrid::s4u::Host& to, std::uint64_t bytes);
  static void start_again(Carrier& carrier, std::uint64_t bytes);
  void retire(Carrier& carrier);

  void find_ended();
  void end_empty();
  void ring(double date_s);

  bool steady_links_;
  bool stopped_ = false;
  std::unordered_map<const Action*, Carrier> carriers_;
  std::unordered_map<Ends, Way, HashOfEnds> ways_;
  std::vector<Carrier*> ended_;                   // At the date that has come.
  std::vector<Transfer*> told_;                   // The same.
  std::vector<Transfer*> empty_;                  // Of no bytes.
  std::map<double, std::vector<Alarm*>> alarms_;  // By date, in the order in which they were set.
};

}  // namespace shardscope
