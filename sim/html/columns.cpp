#include "sim/html/columns.h"

#include <json/json.h>

#include <map>
#include <string>

namespace shardscope {
namespace {

using Index = Json::ArrayIndex;

/// Adds columns while it reads points, each filled up to the point at hand.
class Columns {
 public:
  void add(const Json::Value& point) {
    for (auto member = point.begin(); member != point.end(); ++member) {
      if (member.name() == "axis") {
        add_places(*member);
      } else if (member->isString()) {
        add_text(member.name(), member->asString());
      } else {
        filled(numbers_[member.name()], Json::Value()).append(*member);
      }
    }
    ++count_;
  }

  Json::Value result() {
    Json::Value result;
    result["count"] = count_;
    result["axis"] = std::move(axis_);
    for (auto& [name, column] : numbers_) {
      filled(column, Json::Value());
      result["columns"][name] = std::move(column);
    }
    for (auto& [name, column] : texts_) {
      filled(column.codes, -1);
      result["texts"][name]["values"] = std::move(column.values);
      result["texts"][name]["codes"] = std::move(column.codes);
    }
    return result;
  }

 private:
  struct TextColumn {
    Json::Value values{Json::arrayValue};
    Json::Value codes{Json::arrayValue};
    std::map<std::string, Index> code_of;
  };

  void add_places(const Json::Value& places) {
    for (Index i = 0; i < places.size(); ++i) {
      axis_[i].append(places[i]);
    }
  }

  void add_text(const std::string& name, const std::string& text) {
    TextColumn& column = texts_[name];
    const auto [found, is_new] = column.code_of.try_emplace(text, column.values.size());
    if (is_new) {
      column.values.append(text);
    }
    filled(column.codes, -1).append(found->second);
  }

  /// The column with one entry for each earlier point.
  Json::Value& filled(Json::Value& column, const Json::Value& nothing) const {
    while (column.size() < count_) {
      column.append(nothing);
    }
    return column;
  }

  Index count_ = 0;
  Json::Value axis_{Json::arrayValue};
  std::map<std::string, Json::Value> numbers_;
  std::map<std::string, TextColumn> texts_;
};

}  // namespace

Json::Value columns_of(const Json::Value& points) {
  Columns columns;
  for (const Json::Value& point : points) {
    columns.add(point);
  }
  return columns.result();
}

}  // namespace shardscope
