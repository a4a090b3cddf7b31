// Being told to stop, by Ctrl-C or by a batch system, in the middle of work that is to be ended in
// order.
#pragma once

namespace shardscope {

/// While it lives SIGINT and SIGTERM are noted instead of ending the program. One at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// They end the program again.
  ~Interruption();

  /// The signal that came, 0 if none has.
  static int signal();

  /// In a child process: leaves both signals, which a terminal sends to it as well, to the parent.
  static void leave_to_parent();
};

}  // namespace shardscope
