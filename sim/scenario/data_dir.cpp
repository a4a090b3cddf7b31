#include "sim/scenario/data_dir.h"

#include <system_error>

namespace shardscope {

std::optional<std::filesystem::path> find_data_dir() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const std::filesystem::path folder = program.parent_path().parent_path() / "share/shardscope";
  if (!std::filesystem::is_directory(folder, error)) return std::nullopt;
  return folder;
}

}  // namespace shardscope
