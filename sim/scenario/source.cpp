#include "sim/scenario/source.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <utility>

namespace shardscope {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::Tokenizer;

constexpr int kTabWidth = 8;

struct Token {
  Tokenizer::TokenType type = Tokenizer::TYPE_END;
  std::string text;
  std::size_t begin = 0;
  Position position;

  std::size_t end() const { return begin + text.size(); }
  bool is(const char* symbol) const { return text == symbol; }
  bool opens_block() const { return is("{") || is("<"); }
  bool closes_block() const { return is("}") || is(">"); }
};

// The parser reports what the tokenizer complains about.
class IgnoreErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, int, const std::string&) override {}
};

// Walks through a text, translating the tokenizer's lines and columns into bytes.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void advance_to(int line, int column) {
    while (offset_ < text_.size() && (line_ < line || (line_ == line && column_ < column))) {
      const char c = text_[offset_++];
      if (c == '\n') {
        ++line_;
        column_ = 0;
        line_begin_ = offset_;
      } else {
        column_ += c == '\t' ? kTabWidth - column_ % kTabWidth : 1;
      }
    }
  }

  std::size_t offset() const { return offset_; }
  Position position() const { return {line_ + 1, static_cast<int>(offset_ - line_begin_) + 1}; }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 0;
  int column_ = 0;
};

std::vector<Token> tokenize(std::string_view text) {
  ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  IgnoreErrors ignore;
  Tokenizer tokenizer(&stream, &ignore);
  tokenizer.set_allow_f_after_float(true);
  tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);

  std::vector<Token> tokens;
  Cursor cursor(text);
  while (tokenizer.Next()) {
    const auto& current = tokenizer.current();
    cursor.advance_to(current.line, current.column);
    tokens.push_back({current.type, current.text, cursor.offset(), cursor.position()});
  }
  cursor.advance_to(tokenizer.current().line, tokenizer.current().column);
  tokens.push_back({Tokenizer::TYPE_END, "", text.size(), cursor.position()});
  return tokens;
}

void measure_nesting(const std::vector<Token>& tokens, Source& source) {
  int depth = 0;
  for (const Token& token : tokens) {
    if (token.opens_block() || token.is("[")) ++depth;
    if (token.closes_block() || token.is("]")) --depth;
    if (depth <= source.deepest) continue;
    source.deepest = depth;
    if (depth == kDeepestNesting + 1) source.too_deep = token.position;
  }
}

// Reads fields until it meets something it does not understand; the parser then says what.
class Scanner {
 public:
  Scanner(std::vector<Token> tokens, Source& source)
      : tokens_(std::move(tokens)), source_(source) {}

  void run() {
    while (scan_one()) {
    }
  }

 private:
  const Token& current() const { return tokens_[next_]; }
  bool at_value() const {
    return current().type != Tokenizer::TYPE_END &&
           (current().type != Tokenizer::TYPE_SYMBOL || current().is("-"));
  }
  bool at_name() const {
    return current().type == Tokenizer::TYPE_IDENTIFIER ||
           current().type == Tokenizer::TYPE_INTEGER;
  }

  bool scan_one() {
    if (current().closes_block()) return close_block();
    return at_name() && scan_field();
  }

  bool close_block() {
    if (open_.empty()) return false;
    SourceField& field = source_.fields[open_.back()];
    field.end = current().end();
    ++next_;
    if (field.is_list) return next_block_of_list(field);
    open_.pop_back();
    skip_separator(field);
    return true;
  }

  // After one block of a list of blocks: another one, or the list's end.
  bool next_block_of_list(SourceField& field) {
    if (current().is(",")) {
      ++next_;
      if (!current().opens_block()) return false;
      ++next_;
      return true;
    }
    if (!current().is("]")) return false;
    field.end = current().end();
    ++next_;
    open_.pop_back();
    skip_separator(field);
    return true;
  }

  bool scan_field() {
    SourceField field = begin_field();
    if (current().is(":")) ++next_;
    if (current().is("[")) {
      field.is_list = true;
      ++next_;
    }
    if (current().opens_block()) {
      ++next_;
      field.is_block = true;
      open_.push_back(source_.fields.size());
      source_.fields.push_back(std::move(field));
      return true;
    }
    const bool understood = field.is_list ? scan_list(field) : scan_value(field);
    if (!understood) return false;
    field.end = tokens_[next_ - 1].end();
    skip_separator(field);
    source_.fields.push_back(std::move(field));
    return true;
  }

  SourceField begin_field() {
    SourceField field;
    field.name = current().text;
    if (!open_.empty()) field.parent = static_cast<int>(open_.back());
    field.position = current().position;
    field.begin = current().begin;
    ++next_;
    return field;
  }

  bool scan_list(SourceField& field) {
    while (!current().is("]")) {
      const bool nested = current().is("[") || current().opens_block();
      if (nested ? !skip_nested() : !scan_value(field)) return false;
      if (current().is(",")) {
        ++next_;
        if (current().is("]")) return false;
      } else if (!current().is("]")) {
        return false;
      }
    }
    ++next_;
    return true;
  }

  // Lists in lists, and blocks among values, occur in unknown fields only.
  bool skip_nested() {
    int depth = 0;
    do {
      if (current().type == Tokenizer::TYPE_END) return false;
      if (current().opens_block() || current().is("[")) ++depth;
      if (current().closes_block() || current().is("]")) --depth;
      ++next_;
    } while (depth > 0);
    return true;
  }

  // A value is one token, a minus and a token, adjacent strings, or tokens written without a space
  // between them, such as an unquoted 10Gbps.
  bool scan_value(SourceField& field) {
    if (!at_value()) return false;
    SourceValue value{current().text, current().position};
    bool string = current().type == Tokenizer::TYPE_STRING;
    bool minus = current().is("-");
    std::size_t end = current().end();
    ++next_;
    while (at_value()) {
      const bool next_is_string = current().type == Tokenizer::TYPE_STRING;
      const bool adjacent = current().begin == end && !next_is_string && !string;
      if (!minus && !adjacent && !(string && next_is_string)) break;
      if (!adjacent && !minus) value.text += ' ';
      value.text += current().text;
      string = next_is_string;
      minus = false;
      end = current().end();
      ++next_;
    }
    field.values.push_back(std::move(value));
    return true;
  }

  void skip_separator(SourceField& field) {
    if (!current().is(",") && !current().is(";")) return;
    field.end = current().end();
    ++next_;
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::vector<std::size_t> open_;  // Indices of the fields whose blocks are open.
  Source& source_;
};

}  // namespace

Source scan_source(std::string_view text) {
  Source source;
  std::vector<Token> tokens = tokenize(text);
  measure_nesting(tokens, source);
  if (source.deepest <= kDeepestNesting) Scanner(std::move(tokens), source).run();
  return source;
}

Position position_of_token(std::string_view text, int line, int column) {
  Cursor cursor(text);
  cursor.advance_to(line, column);
  return cursor.position();
}

}  // namespace shardscope
