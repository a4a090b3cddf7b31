// The points of a sweep as columns, so that no name is written once per point.
#pragma once

namespace Json {
class Value;
}

namespace shardscope {

/// Of points as in html_report.h:
///   { "count": n, "axis": [[place of each point] of each axis],
///     "columns": { NAME: [number or null of each point] },
///     "texts": { NAME: { "values": [TEXT], "codes": [which of them, -1: none, of each point] } } }
Json::Value columns_of(const Json::Value& points);

}  // namespace shardscope
