#include "tests/sim/chakra_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <set>

namespace shardscope::testing {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::Node;

struct Expected {
  const char* name;
  AttributeProto::ValueCase type;
  const char* type_name;
  bool required;
};

constexpr Expected kOfKernels[] = {
    {"is_cpu_op", AttributeProto::kBoolVal, "bool_val", true},
    {"num_ops", AttributeProto::kInt64Val, "int64_val", true},
    {"tensor_size", AttributeProto::kUint64Val, "uint64_val", true},
};
constexpr Expected kOfCollectives[] = {
    {"is_cpu_op", AttributeProto::kBoolVal, "bool_val", true},
    {"comm_type", AttributeProto::kInt64Val, "int64_val", true},
    {"comm_size", AttributeProto::kInt64Val, "int64_val", true},
    {"pg_name", AttributeProto::kStringVal, "string_val", false},
};

class Reader {
 public:
  Reader(const std::string& name, std::string_view content, std::vector<Fault>& faults)
      : name_(name),
        array_(content.data(), static_cast<int>(content.size())),
        coded_(&array_),
        faults_(faults) {}

  ChakraTrace read() {
    ChakraTrace trace;
    if (!read_message(trace.metadata)) {
      if (at_end_) {
        fail("metadata", "missing");
      }
      return trace;
    }
    if (trace.metadata.version() != "0.0.4") {
      fail("version", "\"" + trace.metadata.version() + "\"", "0.0.4");
    }
    for (Node node; read_message(node); node.Clear()) {
      check(node);
      trace.nodes.push_back(node);
    }
    return trace;
  }

 private:
  bool read_message(google::protobuf::MessageLite& message) {
    begin_ = coded_.CurrentPosition();
    if (google::protobuf::util::ParseDelimitedFromCodedStream(&message, &coded_, &at_end_)) {
      return true;
    }
    if (!at_end_) {
      fail("", "the message is cut off or damaged");
    }
    return false;
  }

  void fail(const std::string& field, const std::string& problem, const std::string& allowed = "") {
    faults_.push_back({.place = name_ + ": byte " + std::to_string(begin_),
                       .field = field,
                       .problem = problem,
                       .allowed = allowed,
                       .nearest = ""});
  }

  void check(const Node& node) {
    for (const std::uint64_t id : node.data_deps()) {
      if (ids_.count(id) == 0) {
        fail("data_deps", std::to_string(id), "ids of nodes before");
      }
    }
    if (!ids_.insert(node.id()).second) {
      fail("id", std::to_string(node.id()) + " is taken");
    }
    if (node.type() == ChakraProtoMsg::COMP_NODE) {
      check_attributes(node, kOfKernels);
    } else if (node.type() == ChakraProtoMsg::COMM_COLL_NODE) {
      check_attributes(node, kOfCollectives);
    } else {
      fail("type", std::to_string(node.type()), "COMP_NODE (4), COMM_COLL_NODE (7)");
    }
  }

  template <std::size_t kCount>
  void check_attributes(const Node& node, const Expected (&allowed)[kCount]) {
    const std::size_t before = faults_.size();
    std::set<std::string> seen;
    for (const AttributeProto& attribute : node.attr()) {
      if (!seen.insert(attribute.name()).second) {
        fail(attribute.name(), "twice");
      }
    }
    for (const Expected& expected : allowed) {
      const AttributeProto* attribute = find_attribute(node, expected.name);
      if (attribute == nullptr && expected.required) {
        fail(expected.name, "missing");
      }
      if (attribute != nullptr && attribute->value_case() != expected.type) {
        fail(expected.name, "not of its type", expected.type_name);
      }
      seen.erase(expected.name);
    }
    for (const std::string& unknown : seen) {
      fail(unknown, "unknown attribute");
    }
    if (faults_.size() == before) {
      check_values(node);
    }
  }

  // Of a node whose attributes are there and of their types.
  void check_values(const Node& node) {
    const AttributeProto* cpu = find_attribute(node, "is_cpu_op");
    if (cpu != nullptr && cpu->bool_val()) {
      fail("is_cpu_op", "true", "false");
    }
    for (const char* name : {"num_ops", "comm_size"}) {
      const AttributeProto* value = find_attribute(node, name);
      if (value != nullptr && value->int64_val() < 1) {
        fail(name, std::to_string(value->int64_val()), "at least 1");
      }
    }
    const AttributeProto* size = find_attribute(node, "tensor_size");
    if (size != nullptr && size->uint64_val() < 1) {
      fail("tensor_size", "0", "at least 1");
    }
    const AttributeProto* type = find_attribute(node, "comm_type");
    if (type != nullptr && !is_of_training(type->int64_val())) {
      fail("comm_type", std::to_string(type->int64_val()),
           "ALL_REDUCE (0), ALL_GATHER (2), BROADCAST (5), REDUCE_SCATTER (7)");
    }
  }

  static bool is_of_training(std::int64_t type) {
    return type == ChakraProtoMsg::ALL_REDUCE || type == ChakraProtoMsg::ALL_GATHER ||
           type == ChakraProtoMsg::BROADCAST || type == ChakraProtoMsg::REDUCE_SCATTER;
  }

  std::string name_;
  google::protobuf::io::ArrayInputStream array_;
  google::protobuf::io::CodedInputStream coded_;
  std::vector<Fault>& faults_;
  std::set<std::uint64_t> ids_;
  int begin_ = 0;  // Of the message under way.
  bool at_end_ = false;
};

}  // namespace

ChakraTrace read_chakra(const std::string& name, std::string_view content,
                        std::vector<Fault>& faults) {
  return Reader(name, content, faults).read();
}

const AttributeProto* find_attribute(const Node& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attr()) {
    if (attribute.name() == name) {
      return &attribute;
    }
  }
  return nullptr;
}

std::int64_t comm_type(const Node& node) { return find_attribute(node, "comm_type")->int64_val(); }

std::int64_t comm_size(const Node& node) { return find_attribute(node, "comm_size")->int64_val(); }

std::string pg_name(const Node& node) {
  const AttributeProto* attribute = find_attribute(node, "pg_name");
  return attribute == nullptr ? "" : attribute->string_val();
}

}  // namespace shardscope::testing
