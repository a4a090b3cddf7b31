#include "sim/files/safetensors_header.h"

#include <json/json.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/files/strict_json.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> kElementSizes = {{
    {"BOOL", 1},
    {"U8", 1},
    {"I8", 1},
    {"F8_E5M2", 1},
    {"F8_E4M3", 1},
    {"I16", 2},
    {"U16", 2},
    {"F16", 2},
    {"BF16", 2},
    {"I32", 4},
    {"U32", 4},
    {"F32", 4},
    {"F64", 8},
    {"I64", 8},
    {"U64", 8},
}};

std::optional<std::uint64_t> element_size(std::string_view dtype) {
  for (const auto& [known, size] : kElementSizes) {
    if (known == dtype) {
      return size;
    }
  }
  return std::nullopt;
}

std::string all_dtypes() {
  std::string names;
  for (const auto& [known, size] : kElementSizes) {
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  return names;
}

/// The product, or nothing if it exceeds 64 bits.
std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

/// A whole number from 0, or nothing.
std::optional<std::uint64_t> unsigned_value(const Json::Value& value) {
  const bool integer = value.type() == Json::intValue || value.type() == Json::uintValue;
  if (!integer || !value.isUInt64()) {
    return std::nullopt;
  }
  return value.asUInt64();
}

/// The numbers of a list, or nothing if it is no list of whole numbers from 0.
std::optional<std::vector<std::uint64_t>> unsigned_list(const Json::Value& value) {
  if (!value.isArray()) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> numbers;
  for (const Json::Value& element : value) {
    const std::optional<std::uint64_t> number = unsigned_value(element);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::uint64_t data_begin, std::uint64_t data_bytes,
               std::vector<std::string>& faults)
      : path_(path), data_begin_(data_begin), data_bytes_(data_bytes), faults_(faults) {}

  std::vector<SafetensorsEntry> parse(const std::string& header) {
    const std::size_t faults_before = faults_.size();
    Json::Value root;
    if (!parse_json(header, root)) {
      return {};
    }
    std::vector<SafetensorsEntry> entries;
    for (const std::string& name : root.getMemberNames()) {
      if (name == "__metadata__") {
        check_metadata(root[name]);
      } else if (auto entry = parse_entry(name, root[name])) {
        entries.push_back(*std::move(entry));
      }
    }
    if (faults_.size() == faults_before) {
      check_layout(entries);
    }
    return faults_.size() == faults_before ? std::move(entries) : std::vector<SafetensorsEntry>();
  }

 private:
  void fault(const std::string& text) { faults_.push_back(path_ + ": " + text); }

  void tensor_fault(const std::string& name, const std::string& text) {
    fault("tensor " + quoted(name) + ": " + text);
  }

  bool parse_json(const std::string& header, Json::Value& root) {
    if (header.empty() || header.front() != '{') {
      fault("the header must begin with '{': this is not a safetensors file");
      return false;
    }
    if (const auto problem = parse_strict_json(header, root)) {
      fault("the header " + *problem);
      return false;
    }
    return true;
  }

  void check_metadata(const Json::Value& metadata) {
    const bool valid = metadata.isObject() &&
                       std::all_of(metadata.begin(), metadata.end(),
                                   [](const Json::Value& value) { return value.isString(); });
    if (!valid) {
      fault("__metadata__ must hold texts only");
    }
  }

  std::optional<SafetensorsEntry> parse_entry(const std::string& name, const Json::Value& value) {
    if (!value.isObject() || value.size() != 3 || !value.isMember("dtype") ||
        !value.isMember("shape") || !value.isMember("data_offsets")) {
      tensor_fault(name, "found " + json_text(value) +
                             "; allowed are exactly dtype, shape and data_offsets");
      return std::nullopt;
    }
    SafetensorsEntry entry;
    entry.name = name;
    std::uint64_t bytes = 0;
    if (!parse_type_and_shape(value, entry, bytes) ||
        !parse_offsets(value["data_offsets"], entry, bytes)) {
      return std::nullopt;
    }
    return entry;
  }

  bool parse_type_and_shape(const Json::Value& value, SafetensorsEntry& entry,
                            std::uint64_t& bytes) {
    const Json::Value& dtype = value["dtype"];
    const std::optional<std::uint64_t> size =
        dtype.isString() ? element_size(dtype.asString()) : std::nullopt;
    if (!size) {
      tensor_fault(entry.name, "dtype " + json_text(dtype) + "; allowed are " + all_dtypes());
      return false;
    }
    const auto shape = unsigned_list(value["shape"]);
    if (!shape) {
      tensor_fault(entry.name, "shape " + json_text(value["shape"]) +
                                   "; allowed is a list of whole numbers from 0");
      return false;
    }
    std::optional<std::uint64_t> elements = 1;
    for (const std::uint64_t extent : *shape) {
      elements = elements ? multiply(*elements, extent) : std::nullopt;
    }
    const auto total = elements ? multiply(*elements, *size) : std::nullopt;
    if (!total) {
      tensor_fault(entry.name,
                   "shape " + json_text(value["shape"]) + " has more bytes than 64 bits can count");
      return false;
    }
    entry.dtype = dtype.asString();
    entry.shape = *shape;
    entry.elements = *elements;
    entry.element_size = *size;
    bytes = *total;
    return true;
  }

  bool parse_offsets(const Json::Value& value, SafetensorsEntry& entry, std::uint64_t bytes) {
    const auto offsets = unsigned_list(value);
    if (!offsets || offsets->size() != 2 || offsets->front() > offsets->back()) {
      tensor_fault(entry.name,
                   "data_offsets " + json_text(value) + "; allowed is [begin, end], begin <= end");
      return false;
    }
    const std::uint64_t begin = offsets->front();
    const std::uint64_t end = offsets->back();
    if (end > data_bytes_) {
      tensor_fault(entry.name, "data_offsets " + json_text(value) + " exceed the file, which has " +
                                   std::to_string(data_bytes_) + " bytes of data");
      return false;
    }
    if (end - begin != bytes) {
      tensor_fault(entry.name, "data_offsets " + json_text(value) + " span " +
                                   std::to_string(end - begin) + " bytes, but " + entry.dtype +
                                   " " + shape_text(entry.shape) + " takes " +
                                   std::to_string(bytes));
      return false;
    }
    entry.begin = data_begin_ + begin;
    return true;
  }

  /// Sorts the entries and checks that they cover the data without holes or overlaps.
  void check_layout(std::vector<SafetensorsEntry>& entries) {
    const auto end_of = [](const SafetensorsEntry& entry) {
      return entry.begin + entry.elements * entry.element_size;
    };
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
      return std::pair(a.begin, end_of(a)) < std::pair(b.begin, end_of(b));
    });
    std::uint64_t covered = data_begin_;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.begin != covered) {
        tensor_fault(
            entry.name,
            "begins at byte " + std::to_string(entry.begin - data_begin_) +
                " of the data; expected " + std::to_string(covered - data_begin_) +
                (entry.begin < covered ? " (tensors overlap)" : " (bytes belong to no tensor)"));
        return;
      }
      covered = end_of(entry);
    }
    if (covered != data_begin_ + data_bytes_) {
      fault(std::to_string(data_begin_ + data_bytes_ - covered) +
            " bytes at the end belong to no tensor");
    }
  }

  const std::string& path_;
  std::uint64_t data_begin_;
  std::uint64_t data_bytes_;
  std::vector<std::string>& faults_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& path,
                                                       const std::string& header,
                                                       std::uint64_t data_begin,
                                                       std::uint64_t data_bytes,
                                                       std::vector<std::string>& faults) {
  return HeaderParser(path, data_begin, data_bytes, faults).parse(header);
}

}  // namespace shardscope
