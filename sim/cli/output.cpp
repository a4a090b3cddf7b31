#include "sim/cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "sim/files/atomic_file.h"
#include "sim/report/table.h"
#include "sim/text/printable.h"

namespace shardscope {

int report(const Messages& messages) {
  for (const std::string& message : messages) {
    std::fprintf(stderr, "%s\n", printable(message).c_str());  // Paths may hold anything.
  }
  return messages.empty() ? 0 : kFaultsExit;
}

int print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return report({std::string("standard output: cannot be written: ") + std::strerror(errno)});
  }
  return 0;
}

int write_or_print(const std::string& path, const std::string& text) {
  if (path == "-") {
    return print(text);
  }
  const std::optional<std::string> error = write_file(path, text);
  return error.has_value() ? report({*error}) : 0;
}

bool is_colour_terminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kReportWidth;
  }
  return std::clamp<std::size_t>(size.ws_col, kReportWidth / 2, kReportWidth);
}

}  // namespace shardscope
