// The program: reads the command line and runs the command that it names.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "sim/cli/add_commands.h"
#include "sim/cli/option_errors.h"
#include "sim/cli/output.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace {

// Says so if the first word is no command, or the one behind a group of commands is none of them;
// CLI11 would ask for one without naming what it got.
bool is_unknown_command(const CLI::App& app, const std::vector<std::string>& words,
                        const std::string& place = "shardscope") {
  const std::string word = words.empty() ? "" : words.front();
  if (word.empty() || word.front() == '-') {
    return false;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    const CLI::App* command = app.get_subcommand(word);
    return !command->get_subcommands(nullptr).empty() &&
           is_unknown_command(*command, {words.begin() + 1, words.end()}, place + " " + word);
  }
  const std::string nearest = shardscope::nearest_name(word, names);
  std::fprintf(stderr, "%s\n",
               shardscope::format_fault({.place = place,
                                         .field = shardscope::shown(word),
                                         .problem = "no such command",
                                         .allowed = shardscope::one_of(names),
                                         .nearest = nearest})
                   .c_str());
  return true;
}

// What --help and --version ask for.
int print_help(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  app.exit(error, text, text);
  return shardscope::print(text.str());
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  return shardscope::report(
      {shardscope::option_fault(app, error), "Run with --help for more information."});
}

int run_program(int argc, char** argv) {
  CLI::App app(
      "Shardscope trains a model for real on a simulated cluster and shows what each\n"
      "data-parallel strategy costs: loss, memory, bytes on the wire, time.");
  app.name("shardscope");
  app.set_version_flag("--version", "shardscope " SHARDSCOPE_VERSION);
  shardscope::CommandArguments arguments;
  int exit_code = 0;
  shardscope::add_commands(app, arguments, exit_code);

  if (is_unknown_command(app, {argv + 1, argv + argc})) {
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? print_help(app, error) : refuse(app, error);
  }
  return exit_code;
}

}  // namespace

// An exception that comes here is a bug of ours: it aborts.
int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // A file that grows too large is then a failed write.
  try {
    return run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shardscope: unexpected: %s\n", error.what());
  } catch (...) {
    std::fputs("shardscope: unexpected exception\n", stderr);
  }
  std::abort();
}
