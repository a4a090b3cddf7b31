// The points of a sweep as columns, so that no name is written once per point.
#pragma once

#include <string>

namespace Json {
class Value;
}

namespace shardscope {

/// Appends, of points as in html_report.h, JSON for a script element:
///   { "count": n, "axis": [[place of each point] of each axis],
///     "columns": { NAME: [number or null of each point] },
///     "texts": { NAME: { "values": [TEXT], "codes": [which of them, -1: none, of each point] } } }
/// There may be a million points: beside them it takes no more memory than what it appends.
void append_columns(const Json::Value& points, std::string& text);

}  // namespace shardscope
