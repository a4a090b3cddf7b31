// The data of a plan's page.
#pragma once

#include <string>

namespace Json {
class Value;
}

namespace shardscope {

struct Plan;

/// As html_report takes it, of a plan that was run.
Json::Value plan_data(const Plan& plan, const std::string& title, const std::string& version);

}  // namespace shardscope
