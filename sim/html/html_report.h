// The report as one HTML page that needs nothing else: charts, tables, and the data in it.
//
// The data of a run:
//   { "kind": "run", "title": NAME, "shardscope": VERSION, "answer": [SENTENCE],
//     "run": what json_report.h describes,
//     "timelines": [ { "strategy", "step", "events": [ { "rank",
//        "stream": "compute" | "communication", "name",
//        "phase": "forward" | "backward" | "optimizer" | "communication",
//        "micro_step", "begin_s", "end_s", "bytes", "flops" } ] } ],
//     "default_options": { STRATEGY: {OPTION: its value in the preset, where the run has another} }
//     }
// and of a sweep:
//   { "kind": "sweep", "title": NAME, "shardscope": VERSION,
//     "sweep": { "arithmetic",
//       "axes": [ { "field", "unit", "scale": "log" | "linear" | "category",
//          "values": [number or text], "labels": [TEXT] } ],
//       "columns": [ { "name", "label", "unit" } ],
//       "points": [ { "index", "axis": [place in each axis' values], "strategy",
//          "outcome": "completed" | "out_of_memory" | "failed", "failure", COLUMN: number, ... } ],
//       "findings": [ { "kind", "text", "axis": which, "at": position on it, "between": [a, b],
//          "strategies": [NAME], "fixed": {FIELD: value of another axis, as text} } ] } }
// and of a plan:
//   { "kind": "plan", "title": NAME, "shardscope": VERSION, "plan": what plan_json.h describes }
// "micro_step" is there if a step has several. "timelines", "default_options", "answer", "labels"
// and "findings" may be left out, and so may what a strategy that did not complete does not have.
// Units are "s", "B", "B/s" or "".
#pragma once

#include <string>

namespace Json {
class Value;
}

namespace shardscope {

/// The page. Whatever texts the data hold, they stay texts.
std::string html_report(const Json::Value& data);

}  // namespace shardscope
