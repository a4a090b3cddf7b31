#include "sim/text/text_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace shardscope {
namespace {

// Bytes of the UTF-8 sequence that begins with `lead`; 0 if none does.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

bool is_control(unsigned char byte) {
  const bool white_space = byte >= '\t' && byte <= '\r';
  return (byte < 0x20 && !white_space) || byte == 0x7f;
}

// Overlong forms, surrogates and what lies beyond U+10FFFF, which the lead byte does not exclude.
bool is_invalid_second(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

std::optional<std::string> read_all(std::FILE* file) {
  std::string text;
  char block[1 << 16];
  while (text.size() <= kLargestTextFile) {
    const std::size_t count = std::fread(block, 1, sizeof block, file);
    text.append(block, count);
    if (count < sizeof block) break;
  }
  if (std::ferror(file) != 0) return std::nullopt;
  return text;
}

std::string system_message() { return std::generic_category().message(errno); }

}  // namespace

std::optional<std::size_t> find_non_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || length > text.size() - i || is_control(lead)) return i;
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (byte < 0x80 || byte > 0xbf || (k == 1 && is_invalid_second(lead, byte))) return i;
    }
    i += length;
  }
  return std::nullopt;
}

std::optional<std::string> read_text_file(const std::string& path, std::vector<Fault>& faults) {
  const auto refuse = [&](const std::string& problem, const std::string& allowed = {}) {
    faults.push_back({path, {}, problem, allowed, {}});
    return std::nullopt;
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return refuse("is a directory", "a text file");
  // A device could be read without end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_fifo(status)) {
    return refuse("is neither a file nor a pipe", "a text file");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return refuse("cannot be opened: " + system_message());
  std::optional<std::string> text = read_all(file.get());
  if (!text) return refuse("cannot be read: " + system_message());
  if (text->size() > kLargestTextFile) return refuse("is too large", "at most 1 MiB of text");
  if (const auto offset = find_non_text(*text)) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>((*text)[*offset]));
    return refuse("is not a text file: byte " + std::string(byte) + " at offset " +
                  std::to_string(*offset));
  }
  return text;
}

}  // namespace shardscope
