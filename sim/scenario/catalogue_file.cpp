#include "sim/scenario/catalogue_file.h"

#include <algorithm>
#include <system_error>

namespace shardscope {
namespace {

constexpr const char* kExtension = ".textproto";

}  // namespace

std::string preset_path(const std::filesystem::path& platforms, const std::string& folder,
                        const std::string& name) {
  return (platforms / folder / (name + kExtension)).string();
}

std::vector<std::string> preset_names(const std::filesystem::path& platforms,
                                      const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(platforms / folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kExtension) names.push_back(entry->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool passes(const MessageText& text, std::vector<Fault>& faults) {
  const std::vector<Fault> found = text.faults();
  faults.insert(faults.end(), found.begin(), found.end());
  return found.empty();
}

}  // namespace shardscope
