#include "sim/topology_files/simgrid_loader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string_view>

#include "sim/text/printable.h"
#include "sim/topology_files/child.pb.h"
#include "sim/topology_files/limited_child.h"
#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

constexpr ChildLimits kLimits = {.memory_bytes = std::size_t{4} << 30,
                                 .time = std::chrono::seconds(120)};
constexpr std::size_t kLongestOutput = std::size_t{1} << 20;
constexpr std::size_t kMostWarnings = 10;

// What the child is doing, seen by its parent even if it crashes.
class Progress {
 public:
  struct State {
    std::array<char, 256> made;  // The last host or link.
    std::array<char, 512> route;
  };

  Progress()
      : memory_(mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (memory_ != MAP_FAILED) {
      munmap(memory_, sizeof(State));
    }
  }

  void made(std::string_view name) { write(state() ? state()->made : nowhere_.made, name); }
  void route(std::string_view name) { write(state() ? state()->route : nowhere_.route, name); }
  std::string made() const { return state() ? state()->made.data() : ""; }
  std::string route() const { return state() ? state()->route.data() : ""; }

 private:
  State* state() const { return memory_ == MAP_FAILED ? nullptr : static_cast<State*>(memory_); }

  template <std::size_t N>
  static void write(std::array<char, N>& to, std::string_view text) {
    const std::size_t length = std::min(text.size(), N - 1);
    std::memcpy(to.data(), text.data(), length);
    to[length] = '\0';
  }

  void* memory_;
  State nowhere_{};
};

// Takes what a child writes to its standard output and error.
class CapturedOutput {
 public:
  CapturedOutput() : descriptor_(memfd_create("simgrid", MFD_CLOEXEC)) {}
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() { close(descriptor_); }

  void begin() const {
    dup2(descriptor_, STDOUT_FILENO);
    dup2(descriptor_, STDERR_FILENO);
  }

  std::string text() const {
    std::string all(kLongestOutput, '\0');
    const ssize_t length = pread(descriptor_, all.data(), all.size(), 0);
    all.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return all;
  }

 private:
  int descriptor_;
};

std::vector<std::string> engine_arguments() {
  std::vector<std::string> arguments = {"shardscope", "--log=xbt_cfg.thresh:warning",
                                        "--cfg=debug/verbose-exit:no"};
  for (const auto& [name, value] : simgrid_settings()) {
    arguments.push_back("--cfg=" + name + ":" + value);
  }
  return arguments;
}

void add_hosts(const s4u::Engine& engine, LoadedPlatform& platform) {
  for (const s4u::Host* host : engine.get_all_hosts()) {
    LoadedPlatform::Host& added = *platform.add_hosts();
    added.set_name(host->get_cname());
    for (unsigned long state = 0; state < host->get_pstate_count(); ++state) {
      added.add_speeds(host->get_pstate_speed(state));
    }
    added.set_pstate(static_cast<std::uint32_t>(host->get_pstate()));
    added.set_cores(static_cast<std::uint32_t>(host->get_core_count()));
    for (const auto& [key, value] : *host->get_properties()) {
      added.add_properties(key);
      added.add_properties(value);
    }
  }
}

void add_links(const s4u::Engine& engine, LoadedPlatform& platform) {
  for (const s4u::Link* link : engine.get_all_links()) {
    LoadedPlatform::Link& added = *platform.add_links();
    added.set_name(link->get_cname());
    added.set_bandwidth(link->get_bandwidth());
    added.set_latency(link->get_latency());
    added.set_fatpipe(link->get_sharing_policy() == s4u::Link::SharingPolicy::FATPIPE);
  }
}

class Router {
 public:
  Router(const SimgridLoad& load, Progress& progress, LoadedPlatform& platform)
      : load_(load), progress_(progress), platform_(platform) {}

  void ask() {
    const std::size_t count = load_.routed_hosts.size();
    for (const std::string& name : load_.routed_hosts) {
      hosts_.push_back(s4u::Host::by_name_or_null(name));
      if (hosts_.back() == nullptr) {
        platform_.set_error("there is no host " + quoted(name));
        return;
      }
    }
    for (std::size_t a = 0; a < count; ++a) {
      if (count <= load_.most_all_pairs) {
        for (std::size_t b = 0; b < count; ++b) {
          ask(a, b);
        }
      } else {
        ask(a, (a + 1) % count);
        ask(0, a);
        ask(a, 0);
      }
    }
  }

 private:
  void ask(std::size_t from, std::size_t to) {
    if (from == to) {
      return;
    }
    progress_.route("from " + quoted(load_.routed_hosts[from]) + " to " +
                    quoted(load_.routed_hosts[to]));
    platform_.set_asked(platform_.asked() + 1);
    std::vector<s4u::Link*> links;
    double latency = 0;
    try {
      hosts_[from]->route_to(hosts_[to], links, &latency);
    } catch (const std::exception& error) {
      add_unroutable(from, to);
      return;
    }
    if (links.empty() && latency == 0) {  // A zone that has nothing to say of the pair.
      add_unroutable(from, to);
      return;
    }
    if (load_.routed_hosts.size() <= load_.most_kept) {
      LoadedPlatform::Route& route = *platform_.add_routes();
      route.set_from(static_cast<std::uint32_t>(from));
      route.set_to(static_cast<std::uint32_t>(to));
      for (const s4u::Link* link : links) {
        route.add_links(link->get_cname());
      }
      route.set_latency(latency);
    }
  }

  void add_unroutable(std::size_t from, std::size_t to) {
    if (platform_.unroutable() == 0) {
      platform_.set_unroutable_from(static_cast<std::uint32_t>(from));
      platform_.set_unroutable_to(static_cast<std::uint32_t>(to));
    }
    platform_.set_unroutable(platform_.unroutable() + 1);
  }

  const SimgridLoad& load_;
  Progress& progress_;
  LoadedPlatform& platform_;
  std::vector<const s4u::Host*> hosts_;
};

LoadedPlatform load_here(const SimgridLoad& load, Progress& progress) {
  std::vector<std::string> arguments = engine_arguments();
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  const s4u::Engine engine(&argc, argv.data());
  s4u::Host::on_creation_cb([&](const s4u::Host& host) { progress.made(host.get_cname()); });
  s4u::Link::on_creation_cb([&](const s4u::Link& link) { progress.made(link.get_cname()); });

  LoadedPlatform platform;
  try {
    engine.load_platform(load.path);
  } catch (const std::exception& error) {
    platform.set_error(error.what());
    return platform;
  }
  if (load.routed_hosts.empty()) {
    add_hosts(engine, platform);
    add_links(engine, platform);
  } else {
    Router(load, progress, platform).ask();
  }
  return platform;
}

// The text behind the last "] " of a line of SimGrid's log.
std::string log_text(std::string_view line) {
  const std::size_t found = line.find("] ", line.find('['));
  const std::size_t second = found == std::string_view::npos ? found : line.find("] ", found + 2);
  line.remove_prefix(second == std::string_view::npos ? 0 : second + 2);
  return printable(line);
}

struct Said {
  std::string critical;
  std::vector<std::string> warnings;
};

Said read_log(std::string_view output) {
  Said said;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (line.find("/CRITICAL]") != std::string_view::npos && said.critical.empty()) {
      said.critical = log_text(line);
    } else if (line.find("/WARNING]") != std::string_view::npos &&
               said.warnings.size() < kMostWarnings) {
      std::string text = log_text(line);
      if (std::find(said.warnings.begin(), said.warnings.end(), text) == said.warnings.end()) {
        said.warnings.push_back(std::move(text));
      }
    }
  }
  return said;
}

// "Parse error at FILE:LINE: TEXT" -> LINE and TEXT; other texts stay as they are.
void take_line(std::string_view path, std::string& failure, std::size_t& line) {
  const std::string begin = "Parse error at " + std::string(path) + ":";
  if (!failure.starts_with(begin)) {
    return;
  }
  const char* const end_of_text = failure.data() + failure.size();
  const auto [end, error] = std::from_chars(failure.data() + begin.size(), end_of_text, line);
  failure.erase(0, static_cast<std::size_t>(end - failure.data()));
  failure.erase(0, failure.starts_with(": ") ? 2 : 0);
}

}  // namespace

SimgridOutcome load_in_child(const SimgridLoad& load, LoadedPlatform& platform) {
  Progress progress;
  const CapturedOutput output;
  const ChildResult result = run_in_limited_child(kLimits, [&] {
    output.begin();
    return load_here(load, progress).SerializeAsString();
  });
  const Said said = read_log(output.text());
  SimgridOutcome outcome;
  outcome.warnings = said.warnings;
  if (!result.ok || !platform.ParseFromString(result.output)) {
    outcome.failure = said.critical.empty() ? result.failure : said.critical;
    outcome.after = progress.made();
    outcome.at_route = progress.route();
    return outcome;
  }
  if (platform.has_error()) {
    outcome.failure = platform.error();
    take_line(load.path, outcome.failure, outcome.line);
    outcome.failure = printable(outcome.failure.substr(0, outcome.failure.find('\n')));
    return outcome;
  }
  outcome.ok = true;
  return outcome;
}

}  // namespace shardscope
