// points.csv: a row per point and strategy, for spreadsheets and data frames (RFC 4180).
#pragma once

#include <cstddef>
#include <string>

#include "sim/files/atomic_file.h"
#include "sim/sweep/row.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

/// The columns' names: point, an axis's field as --set takes it and, if it is a quantity, a second
/// time in base units; strategy, outcome, reason; then the figures, units in their names.
void write_csv_header(const Sweep& sweep, AtomicFile& file);

/// Numbers are the shortest text that is read back as they were; "nan" is a loss that is no finite
/// number. What a row does not have is empty.
void write_csv_row(const Sweep& sweep, std::size_t task, const Row& row, AtomicFile& file);

/// A text that spreadsheets take for no formula: an apostrophe before one that begins with =, +, -
/// or @. Not for numbers, whose sign that would be.
std::string safe_text(const std::string& text);

/// A field, in quotes if it needs them.
std::string csv_field(const std::string& text);

}  // namespace shardscope
