#include "sim/run/interruption.h"

#include <csignal>

namespace shardscope {
namespace {

volatile std::sig_atomic_t noted_signal = 0;

void note(int signal) { noted_signal = signal; }

// Without SA_RESTART, so that whoever waits goes on and looks.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  handle(SIGINT, note);
  handle(SIGTERM, note);
}

Interruption::~Interruption() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

int Interruption::signal() { return noted_signal; }

void Interruption::leave_to_parent() {
  handle(SIGINT, SIG_IGN);
  handle(SIGTERM, SIG_IGN);
}

}  // namespace shardscope
