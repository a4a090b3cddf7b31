// The first error of Protobuf's text parser, with its place.
#pragma once

#include <google/protobuf/io/tokenizer.h>

#include <string>

namespace shardscope {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    line_ = line;
    column_ = column;
    message_ = message;
  }

  /// Both as Protobuf counts them: from 0, see position_of_token().
  int line() const { return line_; }
  int column() const { return column_; }
  /// Empty if there was none.
  const std::string& message() const { return message_; }

 private:
  int line_ = 0;
  int column_ = 0;
  std::string message_;
};

}  // namespace shardscope
