#include "sim/html/html_report.h"

#include <json/json.h>

#include "sim/html/columns.h"
#include "sim/html/page.h"
#include "sim/html/script_json.h"

namespace shardscope {
namespace {

/// With the points as columns. The points, which may be a million, are not copied first.
Json::Value compact_sweep(const Json::Value& sweep) {
  Json::Value compact;
  for (auto member = sweep.begin(); member != sweep.end(); ++member) {
    compact[member.name()] = member.name() == "points" ? columns_of(*member) : *member;
  }
  return compact;
}

Json::Value compact_data(const Json::Value& data) {
  Json::Value compact;
  for (auto member = data.begin(); member != data.end(); ++member) {
    compact[member.name()] = member.name() == "sweep" ? compact_sweep(*member) : *member;
  }
  return compact;
}

}  // namespace

std::string html_report(const Json::Value& data) {
  std::string page(kPageBeforeData);
  append_script_json(compact_data(data), page);
  page += kPageAfterData;
  return page;
}

}  // namespace shardscope
