#include "sim/html/html_report.h"

#include <gtest/gtest.h>
#include <json/json.h>

#include <limits>
#include <string>

#include "sim/html/columns.h"
#include "sim/html/run_data.h"
#include "sim/html/script_json.h"
#include "tests/sim/parse_json.h"
#include "tests/sim/sample_results.h"

namespace shardscope {
namespace {

std::string script_json(const Json::Value& value) {
  // In an array, as a strict reader wants one or an object.
  Json::Value array;
  array.append(value);
  std::string text;
  append_script_json(array, text);
  return text.substr(1, text.size() - 2);
}

TEST(ScriptJsonTest, TextCannotEndTheScriptElement) {
  EXPECT_EQ(script_json("</script><!--"), R"("\u003c/script>\u003c!--")");
  Json::Value object;
  object["<"] = "a";
  EXPECT_EQ(script_json(object), R"({"\u003c":"a"})");
}

TEST(ScriptJsonTest, TextIsReadBackAsItWas) {
  std::string text = "\"quotes\" \\ / ' é \xe2\x80\xa8 \xf0\x9f\x98\x80";
  for (char character = 0; character < 0x7f; ++character) {
    text += character;
  }
  EXPECT_EQ(parse_json("[" + script_json(text) + "]")[0].asString(), text);
}

TEST(ScriptJsonTest, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(script_json("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(script_json("\xed\xa0\x80").size(), 2 + 3 * 3U);  // A surrogate.
}

TEST(ScriptJsonTest, NumbersAreShortAndExact) {
  for (const double value : {0.1 + 0.2, 5.4e-324, 1.7e308, -2.5, 0.0}) {
    EXPECT_EQ(parse_json("[" + script_json(value) + "]")[0].asDouble(), value);
  }
  EXPECT_EQ(script_json(0.1), "0.1");
  EXPECT_EQ(script_json(Json::UInt64{18'446'744'073'709'551'615U}), "18446744073709551615");
  EXPECT_EQ(script_json(Json::Int64{-3}), "-3");
  EXPECT_EQ(script_json(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(script_json(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(script_json(Json::Value()), "null");
  EXPECT_EQ(script_json(true), "true");
}

TEST(ColumnsTest, EachPointHasAnEntryInEachColumn) {
  std::string columns;
  append_columns(parse_json(R"([
    {"axis": [0, 2], "strategy": "DDP", "wall_s": 1.5},
    {"axis": [1, 0], "strategy": "ZERO1", "failure": "killed"},
    {"axis": [1, 1], "strategy": "DDP", "wall_s": null, "loss": 2}])"),
                 columns);
  EXPECT_EQ(columns, R"({"count":3,"axis":[[0,1,1],[2,0,1]],)"
                     R"("columns":{"loss":[null,null,2],"wall_s":[1.5,null,null]},)"
                     R"("texts":{"failure":{"values":["killed"],"codes":[-1,0,-1]},)"
                     R"("strategy":{"values":["DDP","ZERO1"],"codes":[0,1,0]}}})");
}

TEST(RunDataTest, SaysTheAnswerAndWhatLimitsAndWhatDoesNotFit) {
  const Json::Value data =
      run_data(sample_scenario(8), {sample_run("ZERO1", 8, 8, 2e-3), out_of_memory_run("DDP", 8)},
               sample_context());
  EXPECT_EQ(data["kind"], "run");
  EXPECT_EQ(data["title"], "quickstart");
  EXPECT_EQ(data["shardscope"], "1.2.3");
  ASSERT_EQ(data["answer"].size(), 3U);
  EXPECT_EQ(data["answer"][0].asString().substr(0, 12), "ZERO1 takes ");
  EXPECT_EQ(data["answer"][1], "What limits ZERO1 most: link bandwidth.");
  EXPECT_EQ(data["answer"][2].asString().substr(0, 21), "DDP ran out of memory");
}

TEST(RunDataTest, ARankHasTheMeanOfItsStepsAfterTheFirst) {
  RunResult run = sample_run("ZERO1", 2, 8, 2e-3);
  RankResult& rank = *run.mutable_ranks(1);
  rank.mutable_steps(0)->mutable_time()->set_wall_s(100);
  rank.mutable_steps(1)->mutable_time()->set_wall_s(1);
  rank.mutable_steps(2)->mutable_time()->set_wall_s(2);
  const Json::Value data = run_data(sample_scenario(2), {run}, sample_context());
  const Json::Value& steps = data["run"]["runs"][0]["ranks"][1]["steps"];
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0]["time"]["wall_s"].asDouble(), 1.5);
  EXPECT_EQ(steps[0]["time"]["exposed_backward_s"].asDouble(), 2e-3);
  EXPECT_EQ(steps[0]["sent_bytes"], 1'380'288);
  EXPECT_EQ(data["run"]["runs"][0]["steps"].size(), 3U);
}

TEST(RunDataTest, OfVeryManyStepsSomeAreLeftOut) {
  RunResult run = sample_run("DDP", 1, 1, 0);
  for (int step = 4; step <= 25'000; ++step) {
    *run.add_steps() = run.steps(0);
    run.mutable_steps(step - 1)->set_step(step);
  }
  const Json::Value data = run_data(sample_scenario(1), {run}, sample_context());
  const Json::Value& steps = data["run"]["runs"][0]["steps"];
  EXPECT_EQ(steps.size(), 8334U);
  EXPECT_EQ(steps[0]["step"], 1);
  EXPECT_EQ(steps[1]["step"], 4);
}

TEST(HtmlReportTest, HasItsDataOnceAndItsLicence) {
  Json::Value data;
  data["kind"] = "run";
  data["title"] = "</script>";
  const std::string page = html_report(data);
  EXPECT_NE(
      page.find(R"(type="application/json">{"kind":"run","title":"\u003c/script>"}</script>)"),
      std::string::npos);
  EXPECT_NE(page.find("The MIT License"), std::string::npos);
  for (const char* placeholder : {"@DATA", "@APP", "@CHART_JS", "@STYLE"}) {
    EXPECT_EQ(page.find(placeholder), std::string::npos) << placeholder;
  }
}

}  // namespace
}  // namespace shardscope
