// What the commands print and write.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shardscope {

/// Exit codes beside 0.
inline constexpr int kDiedExit = 1;    ///< A simulation died.
inline constexpr int kFaultsExit = 2;  ///< Faults in what the user gave.

/// Faults, one per line of standard error.
using Messages = std::vector<std::string>;

/// Prints the faults. 0 if there are none, or kFaultsExit.
int report(const Messages& messages);

/// Writes to standard output; a full disk behind it is a fault.
int print(const std::string& text);

/// Writes a file as a whole, or to standard output if the path is "-".
int write_or_print(const std::string& path, const std::string& text);

/// Whether standard output is a terminal that shows colours.
bool is_colour_terminal();

/// Columns of the terminal that standard output is, from 40 to 80; 80 if it is none.
std::size_t terminal_width();

}  // namespace shardscope
