#include "sim/html/columns.h"

#include <json/json.h>

#include <cstddef>
#include <map>
#include <vector>

#include "sim/html/script_json.h"

namespace shardscope {
namespace {

/// The elements of a JSON array, one of each point. Points without one have `nothing`.
class Column {
 public:
  explicit Column(const char* nothing) : nothing_(nothing) {}

  /// The element of that point, counted from 0.
  void add(const Json::Value& value, std::size_t point) {
    fill(point);
    separate();
    append_script_json(value, elements_);
  }

  void append_to(std::string& text, std::size_t points) {
    fill(points);
    text += '[' + elements_ + ']';
  }

 private:
  void fill(std::size_t points) {
    while (size_ < points) {
      separate();
      elements_ += nothing_;
    }
  }

  void separate() {
    elements_ += size_ == 0 ? "" : ",";
    ++size_;
  }

  const char* nothing_;
  std::string elements_;
  std::size_t size_ = 0;
};

/// Texts by their number in the order in which they first come.
struct TextColumn {
  Column codes{"-1"};
  Json::Value values{Json::arrayValue};
  std::map<std::string, Json::ArrayIndex> code_of;
};

class Columns {
 public:
  void add(const Json::Value& point) {
    for (auto member = point.begin(); member != point.end(); ++member) {
      if (member.name() == "axis") {
        add_places(*member);
      } else if (member->isString()) {
        add_text(texts_[member.name()], member->asString());
      } else {
        numbers_.try_emplace(member.name(), "null").first->second.add(*member, count_);
      }
    }
    ++count_;
  }

  void append_to(std::string& text) {
    text += R"({"count":)" + std::to_string(count_) + R"(,"axis":[)";
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      text += i == 0 ? "" : ",";
      axes_[i].append_to(text, count_);
    }
    text += R"(],"columns":{)";
    append_members(numbers_, text, [&](Column& column) { column.append_to(text, count_); });
    text += R"(},"texts":{)";
    append_members(texts_, text, [&](TextColumn& column) {
      text += R"({"values":)";
      append_script_json(column.values, text);
      text += R"(,"codes":)";
      column.codes.append_to(text, count_);
      text += '}';
    });
    text += "}}";
  }

 private:
  void add_places(const Json::Value& places) {
    axes_.resize(places.size(), Column("null"));
    for (Json::ArrayIndex i = 0; i < places.size(); ++i) {
      axes_[i].add(places[i], count_);
    }
  }

  void add_text(TextColumn& column, const std::string& text) const {
    const auto [found, is_new] = column.code_of.try_emplace(text, column.values.size());
    if (is_new) {
      column.values.append(text);
    }
    column.codes.add(found->second, count_);
  }

  template <typename T, typename F>
  static void append_members(std::map<std::string, T>& columns, std::string& text, F&& append) {
    const char* separator = "";
    for (auto& [name, column] : columns) {
      text += separator;
      append_script_json(name, text);
      text += ':';
      append(column);
      separator = ",";
    }
  }

  std::size_t count_ = 0;
  std::vector<Column> axes_;
  std::map<std::string, Column> numbers_;
  std::map<std::string, TextColumn> texts_;
};

}  // namespace

void append_columns(const Json::Value& points, std::string& text) {
  Columns columns;
  for (const Json::Value& point : points) {
    columns.add(point);
  }
  columns.append_to(text);
}

}  // namespace shardscope
