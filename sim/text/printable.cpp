#include "sim/text/printable.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace shardscope {
namespace {

constexpr std::size_t kLongestQuoted = 100;
constexpr std::size_t kLongestShown = 60;

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

/// U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069: they make a terminal show what
/// follows in another order than it is.
bool is_bidirectional_control(std::string_view character) {
  if (character == "\u061c") {
    return true;
  }
  if (character.size() != 3 || byte_at(character, 0) != 0xe2) {
    return false;
  }
  const unsigned second = byte_at(character, 1);
  const unsigned third = byte_at(character, 2);
  return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

/// C0, DEL, encoded as two bytes C1, and those above.
bool is_control(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && character.size() == 2 && byte_at(character, 1) < 0xa0) ||
         is_bidirectional_control(character);
}

std::string hex_escape(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += hex_escape(static_cast<unsigned char>(byte));
  }
  return text;
}

/// The next character of `text` as it may be shown in quotes; advances `position`.
std::string next_quoted(std::string_view text, std::size_t& position) {
  const std::size_t length = utf8_character_length(text.substr(position));
  const std::string_view character = text.substr(position, length == 0 ? 1 : length);
  position += character.size();
  if (character == "\"" || character == "\\") {
    return "\\" + std::string(character);
  }
  if (length > 0 && !is_control(character)) {
    return std::string(character);
  }
  return escaped(character);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  std::size_t position = 0;
  while (position < text.size() && position < kLongestQuoted) {
    result += next_quoted(text, position);
  }
  return result + (position < text.size() ? "...\"" : "\"");
}

std::string printable(std::string_view text) {
  std::string result;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = utf8_character_length(text.substr(position));
    const std::string_view character = text.substr(position, length == 0 ? 1 : length);
    const bool shown = length > 0 && !is_control(character);
    result += shown ? character : std::string_view("?");
    position += character.size();
  }
  return result;
}

std::string shown(std::string_view text) {
  std::string result;
  std::size_t position = 0;
  while (position < text.size()) {
    if (result.size() >= kLongestShown) {
      return result + "...";
    }
    const std::size_t length = utf8_character_length(text.substr(position));
    const std::string_view character = text.substr(position, length == 0 ? 1 : length);
    result += length > 0 && !is_control(character) ? std::string(character) : escaped(character);
    position += character.size();
  }
  return result;
}

std::size_t utf8_character_length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (length == 0 || text.size() < length || first > 0xf4) {
    return 0;
  }
  std::uint32_t point = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) {
      return 0;
    }
    point = point << 6 | (byte_at(text, i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < kSmallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

bool is_utf8(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = utf8_character_length(text.substr(position));
    if (length == 0) {
      return false;
    }
    position += length;
  }
  return true;
}

}  // namespace shardscope
