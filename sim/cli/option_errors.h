// What the command line's parser refuses, in the words of this program: the option, what it was
// given and what is allowed.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace shardscope {

/// What is wrong with a command line that `app` has refused with `error`.
std::string option_fault(const CLI::App& app, const CLI::ParseError& error);

/// Why the text is no whole number from `least` to `most`; empty if it is one.
std::string why_not_whole(const std::string& text, std::int64_t least, std::int64_t most);

}  // namespace shardscope
