// Text of unknown origin, made fit for a terminal. Control characters are C0, C1, DEL and those
// that change the direction of writing.
#pragma once

#include <string>
#include <string_view>

namespace shardscope {

/// The text in double quotes: control characters, quotes, backslashes and bytes that are not UTF-8
/// are escaped, and what exceeds about 100 bytes is cut ("...").
std::string quoted(std::string_view text);

/// The text without quotes: control characters and bytes that are not UTF-8 are escaped, and what
/// exceeds about 60 bytes is cut ("...").
std::string shown(std::string_view text);

/// Control characters and bytes that are not UTF-8 become '?'; nothing is cut.
std::string printable(std::string_view text);

/// Length in bytes of the UTF-8 character that `text` begins with, 0 if it begins with none (or is
/// empty). Overlong forms, surrogates and values above U+10FFFF are none.
std::size_t utf8_character_length(std::string_view text);

/// Whether all of the text is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace shardscope
