#include "sim/cli/option_errors.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <vector>

#include "sim/report/format.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// The innermost command that was given, or the program itself.
const CLI::App& command_of(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : command_of(*commands.front());
}

std::vector<std::string> shown_all(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) {
    result.push_back(shown(text));
  }
  return result;
}

// Of an option that takes a value and has none, or that takes one and has several. The parser names
// it at the beginning of what it says.
std::string mismatch_fault(const CLI::App& command, const std::string& said) {
  const std::string name = said.substr(0, said.find(':'));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) {
    return said;
  }
  const std::vector<std::string>& values = option->results();
  if (values.size() > 1) {
    return name + ": is given " + std::to_string(values.size()) + " times, as " +
           listed(shown_all(values)) + "; once at most";
  }
  return name + ": has no value; " + name + " " + option->get_type_name();
}

// Of a flag with a value; other values are checked before they are converted.
std::string conversion_fault(const CLI::App& command, const std::string& said) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_expected_max() == 0 && !option->results().empty() &&
        said.find(option->get_name()) != std::string::npos) {
      return option->get_name() + "=" + shown(option->results().front()) + ": takes no value; " +
             option->get_name() + " alone";
    }
  }
  return said;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_lnames().empty()) {
      names.push_back("--" + option->get_lnames().front());
    }
  }
  return names;
}

// The first option that is none, or else the first argument too many.
std::string extras_fault(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& extra) { return extra.starts_with("-"); });
  if (option == extras.end()) {
    return shown(extras.front()) + ": is an argument too many";
  }
  const std::vector<std::string> names = option_names(command);
  const std::string name = option->substr(0, option->find('='));
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return name + ": stands before " + command.get_name() + ", whose option it is; behind it";
  }
  return format_fault({.place = command.get_name(),
                       .field = shown(name),
                       .problem = "no such option",
                       .allowed = one_of(names),
                       .nearest = nearest_name(name, names)});
}

}  // namespace

std::string option_fault(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = command_of(app);
  std::string said = error.what();
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ArgumentMismatch:
      return mismatch_fault(command, said);
    case CLI::ExitCodes::ConversionError:
      return conversion_fault(command, said);
    case CLI::ExitCodes::ExtrasError:
      return extras_fault(app, command);
    default:
      return said;  // "--out is required", or what a check of ours says.
  }
}

std::string why_not_whole(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= least && value <= most) {
    return "";
  }
  return shown(text) + " is not allowed; a whole number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

}  // namespace shardscope
