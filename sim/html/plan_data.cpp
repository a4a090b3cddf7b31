#include "sim/html/plan_data.h"

#include <json/json.h>

#include "sim/plan/plan_json.h"

namespace shardscope {

Json::Value plan_data(const Plan& plan, const std::string& title, const std::string& version) {
  Json::Value data;
  data["kind"] = "plan";
  data["title"] = title;
  data["shardscope"] = version;
  data["plan"] = plan_value(plan, version);
  return data;
}

}  // namespace shardscope
