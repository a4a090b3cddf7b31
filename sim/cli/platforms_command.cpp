// The catalogue: its tables, or one entry with the text of its file, in which the sources are.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/report/platforms_json.h"
#include "sim/report/platforms_text.h"
#include "sim/scenario/platforms.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/text/text_file.h"

namespace shardscope {
namespace {

void add(const std::vector<Fault>& faults, Messages& messages) {
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
}

void check_name(const std::string& name, const std::filesystem::path& folder, Messages& messages) {
  const std::vector<std::string> names = platform_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    add({{.place = "platforms",
          .field = shown(name),
          .problem = "is not in the catalogue",
          .allowed = one_of(names),
          .nearest = nearest_name(name, names)}},
        messages);
  }
}

template <typename Preset>
void write_entries(Page& page, const std::vector<PlatformEntry<Preset>>& entries,
                   std::vector<Fault>& faults) {
  for (const PlatformEntry<Preset>& entry : entries) {
    write_entry(page, entry);
    page.lines("\n" + printable(entry.file) + ":\n\n");  // Not wrapped, to be copied.
    page.lines(read_text_file(entry.file, faults).value_or(""));
  }
}

// What is asked for, as text.
std::string text_of(const Platforms& platforms, bool whole, std::vector<Fault>& faults) {
  if (whole) {
    return platforms_text(platforms, is_colour_terminal(), terminal_width());
  }
  Page page(is_colour_terminal(), terminal_width());
  write_entries(page, platforms.devices, faults);
  write_entries(page, platforms.nodes, faults);
  write_entries(page, platforms.fabrics, faults);
  return page.text();
}

}  // namespace

int platforms_command(const PlatformsArguments& arguments) {
  Messages messages;
  const std::optional<std::filesystem::path> data = data_folder(messages);
  if (!data.has_value()) {
    return report(messages);
  }
  const std::filesystem::path folder = *data / "platforms";
  if (arguments.name.has_value()) {
    check_name(*arguments.name, folder, messages);
  }
  std::vector<Fault> faults;
  const Platforms platforms = read_platforms(folder, arguments.name, faults);
  const std::string text = text_of(platforms, !arguments.name.has_value(), faults);
  add(faults, messages);
  if (!messages.empty()) {
    return report(messages);
  }
  if (arguments.json.has_value()) {
    const int code = write_or_print(*arguments.json, platforms_json(platforms, SHARDSCOPE_VERSION));
    if (code != 0 || *arguments.json == "-") {
      return code;
    }
  }
  return print(text);
}

}  // namespace shardscope
