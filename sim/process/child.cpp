#include "sim/process/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

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

// Takes what is there, at least a byte or the end. False at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> block;
  ssize_t n = -1;
  do {
    n = read(descriptor, block.data(), block.size());
  } while (n < 0 && errno == EINTR);
  text.append(block.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return n > 0;
}

// Whatever else is thrown ends the child as well: it never goes on where its caller would.
[[noreturn]] void be_child(pid_t parent, int descriptor,
                           const std::function<std::string()>& work) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);  // It has ended before it could take its child along.
  }
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

ChildResult result_of(pid_t process, std::string output) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {.ok = true, .output = std::move(output), .failure = ""};
  }
  const bool threw = WIFEXITED(status) && WEXITSTATUS(status) == kThrew;
  return {.ok = false, .output = "", .failure = threw ? std::move(output) : how_it_ended(status)};
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work) {
  ChildPool pool;
  if (const std::optional<std::string> reason = pool.start(0, work)) {
    return {.ok = false, .output = "", .failure = *reason};
  }
  while (true) {
    if (std::optional<ChildPool::Ended> ended = pool.wait(std::chrono::hours(1))) {
      return std::move(ended->result);
    }
  }
}

ChildPool::~ChildPool() {
  for (const Child& child : children_) {
    kill(child.process, SIGKILL);
    close(child.descriptor);
    result_of(child.process, "");
  }
}

std::optional<std::string> ChildPool::start(std::size_t id,
                                            const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return std::string("no pipe: ") + std::strerror(errno);
  }
  std::fflush(nullptr);  // Else the child would write what is buffered as well.
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) {
    const std::string reason = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return "no child process: " + reason;
  }
  if (process == 0) {
    close(ends[0]);
    be_child(parent, ends[1], work);
  }
  close(ends[1]);
  children_.push_back({.id = id, .process = process, .descriptor = ends[0], .output = ""});
  return std::nullopt;
}

std::optional<ChildPool::Ended> ChildPool::wait(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  std::vector<pollfd> waiting;
  while (true) {
    waiting.clear();
    for (const Child& child : children_) {
      waiting.push_back({.fd = child.descriptor, .events = POLLIN, .revents = 0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const int longest_ms = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    if (poll(waiting.data(), waiting.size(), longest_ms) <= 0) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0 || read_some(children_[i].descriptor, children_[i].output)) {
        continue;
      }
      Child child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      close(child.descriptor);
      return Ended{child.id, result_of(child.process, std::move(child.output))};
    }
  }
}

}  // namespace shardscope
