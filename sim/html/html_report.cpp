#include "sim/html/html_report.h"

#include <json/json.h>

#include "sim/html/columns.h"
#include "sim/html/page.h"
#include "sim/html/script_json.h"

namespace shardscope {
namespace {

void append_sweep(const Json::Value& sweep, std::string& text) {
  append_script_object(sweep, text, [&](const std::string& name, const Json::Value& value) {
    if (name == "points") {
      append_columns(value, text);
    } else {
      append_script_json(value, text);
    }
  });
}

}  // namespace

std::string html_report(const Json::Value& data) {
  std::string page(kPageBeforeData);
  append_script_object(data, page, [&](const std::string& name, const Json::Value& value) {
    if (name == "sweep") {
      append_sweep(value, page);
    } else {
      append_script_json(value, page);
    }
  });
  page += kPageAfterData;
  return page;
}

}  // namespace shardscope
