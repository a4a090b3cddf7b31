#include "sim/run/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace shardscope {
namespace {

constexpr int kThrew = 3;  // Exit code of a child whose output is an exception's text.

void write_all(int descriptor, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(descriptor, text.data() + written, text.size() - written);
    if (n < 0 && errno != EINTR) {
      _exit(1);  // The parent is gone.
    }
    written += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> block;
  while (true) {
    const ssize_t n = read(descriptor, block.data(), block.size());
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return text;
    }
    text.append(block.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

// Whatever else is thrown ends the child as well: it never goes on where its caller would.
[[noreturn]] void be_child(int descriptor, const std::function<std::string()>& work) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    write_all(descriptor, work());
  } catch (const std::exception& error) {
    write_all(descriptor, error.what());
    _exit(kThrew);
  }
  _exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return {.ok = false, .output = "", .failure = std::string("no pipe: ") + std::strerror(errno)};
  }
  std::fflush(nullptr);  // Else the child would write what is buffered as well.
  const pid_t child = fork();
  if (child < 0) {
    const std::string reason = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return {.ok = false, .output = "", .failure = "no child process: " + reason};
  }
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], work);
  }
  close(ends[1]);
  std::string output = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {.ok = true, .output = std::move(output), .failure = ""};
  }
  const bool threw = WIFEXITED(status) && WEXITSTATUS(status) == kThrew;
  return {.ok = false, .output = "", .failure = threw ? output : how_it_ended(status)};
}

}  // namespace shardscope
