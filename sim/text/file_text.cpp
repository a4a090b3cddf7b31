#include "sim/text/file_text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "sim/text/text_file.h"

namespace shardscope {
namespace {

std::string system_message() { return std::generic_category().message(errno); }

// UTF-16 and UTF-32, with or without their mark.
bool is_wide(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
         (text.size() >= 2 && (text[0] == '\0') != (text[1] == '\0'));
}

bool check_text(std::string_view text, FaultList& faults) {
  if (is_wide(text)) {
    faults.add(0, {}, "is UTF-16 or UTF-32", "UTF-8 text");
    return false;
  }
  if (const auto offset = find_non_text(text)) {
    const auto [line, column] = LineIndex(text).place(*offset);
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[*offset]));
    faults.add_at(line, column, {}, "is not text: byte " + std::string(byte), "UTF-8 text");
    return false;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    faults.add(0, {}, "is empty");
    return false;
  }
  return true;
}

std::optional<std::string> read_bytes(const std::string& path, FaultList& faults) {
  const auto refuse = [&](const std::string& problem, const std::string& allowed = {}) {
    faults.add(0, {}, problem, allowed);
    return std::nullopt;
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return refuse("is a directory", "a file");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return refuse("is no regular file", "a file that can be read more than once");
  }
  if (std::filesystem::file_size(path, error) > kLargestTopologyFile && !error) {
    return refuse("is too large", "at most 64 MiB");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return refuse("cannot be opened: " + system_message());
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (text.size() <= kLargestTopologyFile) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file.get());
    text.append(block.data(), count);
    if (count < block.size()) break;
  }
  if (std::ferror(file.get()) != 0) return refuse("cannot be read: " + system_message());
  if (text.size() > kLargestTopologyFile) return refuse("grows while it is read");
  return text;
}

}  // namespace

std::optional<std::string> read_topology_text(const std::string& path, FaultList& faults) {
  std::optional<std::string> text = read_bytes(path, faults);
  if (text.has_value() && text->starts_with("\xef\xbb\xbf")) {
    text->erase(0, 3);
  }
  if (!text.has_value() || !check_text(*text, faults)) {
    return std::nullopt;
  }
  return text;
}

LineIndex::LineIndex(std::string_view text) : starts_{0} {
  for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1)) {
    starts_.push_back(i + 1);
  }
}

LineIndex::Place LineIndex::place(std::size_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(after - starts_.begin());
  return {.line = line, .column = offset - starts_[line - 1] + 1};
}

}  // namespace shardscope
