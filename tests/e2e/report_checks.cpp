#include "tests/e2e/report_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace shardscope::testing {
namespace {

constexpr std::array kStates = {"parameters", "gradients", "master_weights", "first_moment",
                                "second_moment"};
constexpr std::array kOthers = {"activations", "gathered_parameters", "communication_buckets",
                                "inputs"};
constexpr std::array kTimes = {"wall_s",
                               "forward_s",
                               "backward_s",
                               "optimizer_s",
                               "exposed_communication_s",
                               "busy_communication_s"};

void expect_integer(const Json::Value& object, const char* member) {
  EXPECT_TRUE(object[member].isUInt64()) << member << ": " << object[member];
}

void expect_text(const Json::Value& object, const char* member) {
  EXPECT_TRUE(object[member].isString()) << member << ": " << object[member];
}

double sum_of_phases(const Json::Value& time) {
  return time["forward_s"].asDouble() + time["backward_s"].asDouble() +
         time["optimizer_s"].asDouble() + time["exposed_communication_s"].asDouble();
}

void check_time(const Json::Value& time) {
  for (const char* member : kTimes) {
    EXPECT_TRUE(time[member].isDouble()) << member << ": " << time[member];
  }
  const double wall_s = time["wall_s"].asDouble();
  EXPECT_NEAR(sum_of_phases(time), wall_s, 1e-9 * wall_s);
}

void check_rank_memory(const Json::Value& memory) {
  for (const char* category : kStates) {
    for (const char* figure : {"peak_bytes", "state_bytes", "predicted_state_bytes"}) {
      expect_integer(memory[figure], category);
    }
    EXPECT_EQ(memory["state_bytes"][category], memory["predicted_state_bytes"][category])
        << category;
  }
  for (const char* category : kOthers) {
    expect_integer(memory["peak_bytes"], category);
  }
  expect_integer(memory["peak_bytes"], "total");
}

void check_wire(const Json::Value& ranks, Json::ArrayIndex step) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const Json::Value& rank : ranks) {
    const Json::Value& figures = rank["steps"][step];
    for (const char* member :
         {"sent_bytes", "received_bytes", "predicted_sent_bytes", "control_sent_bytes"}) {
      expect_integer(figures, member);
    }
    EXPECT_EQ(figures["sent_bytes"], figures["predicted_sent_bytes"]) << "rank " << rank["rank"];
    sent += figures["sent_bytes"].asUInt64();
    received += figures["received_bytes"].asUInt64();
  }
  EXPECT_EQ(sent, received) << "step " << step + 1;
}

void check_completed(const Json::Value& run) {
  EXPECT_FALSE(run["steps"].empty());
  for (Json::ArrayIndex i = 0; i < run["steps"].size(); ++i) {
    EXPECT_EQ(run["steps"][i]["step"].asUInt(), i + 1);
    check_time(run["steps"][i]["time"]);
    check_wire(run["ranks"], i);
  }
  ASSERT_EQ(run["ranks"].size(), run["world_size"].asUInt());
  for (Json::ArrayIndex r = 0; r < run["ranks"].size(); ++r) {
    const Json::Value& rank = run["ranks"][r];
    EXPECT_EQ(rank["rank"].asUInt(), r);
    EXPECT_EQ(rank["steps"].size(), run["steps"].size());
    check_rank_memory(rank["memory"]);
    for (const Json::Value& step : rank["steps"]) {
      check_time(step["time"]);
    }
  }
}

void check_out_of_memory(const Json::Value& fault) {
  for (const char* member : {"rank", "step", "wanted_bytes", "free_bytes"}) {
    expect_integer(fault, member);
  }
  for (const char* member : {"phase", "layer", "category"}) {
    expect_text(fault, member);
  }
  EXPECT_GT(fault["wanted_bytes"].asUInt64(), fault["free_bytes"].asUInt64());
}

}  // namespace

void check_report(const Json::Value& report) {
  for (const char* member : {"shardscope", "scenario", "digest"}) {
    expect_text(report, member);
  }
  EXPECT_TRUE(report["assumptions"].isObject());
  EXPECT_FALSE(report["runs"].empty());
  for (const Json::Value& run : report["runs"]) {
    SCOPED_TRACE(run["strategy"].asString());
    expect_text(run, "strategy");
    expect_integer(run, "world_size");
    expect_integer(run, "parameters");
    if (run["outcome"] == "completed") {
      check_completed(run);
    } else {
      EXPECT_EQ(run["outcome"], "out_of_memory");
      check_out_of_memory(run["out_of_memory"]);
    }
  }
}

double worst_sum_of_phases(const Json::Value& report) {
  double worst = 0;
  for (const Json::Value& run : report["runs"]) {
    for (const Json::Value& rank : run["ranks"]) {
      for (const Json::Value& step : rank["steps"]) {
        const double wall_s = step["time"]["wall_s"].asDouble();
        worst = std::max(worst, std::abs(sum_of_phases(step["time"]) - wall_s) / wall_s);
      }
    }
  }
  return worst;
}

const Json::Value& run_of(const Json::Value& report, const char* strategy) {
  for (const Json::Value& run : report["runs"]) {
    if (run["strategy"] == strategy) {
      return run;
    }
  }
  ADD_FAILURE() << "no run of " << strategy;
  return Json::Value::nullSingleton();
}

Json::Value without(Json::Value value, const std::vector<std::string>& names) {
  if (value.isObject()) {
    for (const std::string& name : names) {
      value.removeMember(name);
    }
  }
  if (value.isObject() || value.isArray()) {
    for (Json::Value& member : value) {
      member = without(member, names);
    }
  }
  return value;
}

}  // namespace shardscope::testing
