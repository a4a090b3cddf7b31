#include "sim/chakra/chakra_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/collectives/plan.h"
#include "sim/chakra/communicator_groups.h"
#include "sim/chakra/et_def.pb.h"
#include "sim/result/result.pb.h"
#include "sim/trace/operation_names.h"

namespace shardscope {
namespace {

namespace chakra = ChakraProtoMsg;

constexpr const char* kSchemaVersion = "0.0.4";
constexpr std::uint64_t kNoNode = 0;

template <typename Message>
chakra::AttributeProto& add_attribute(Message& message, const char* name) {
  chakra::AttributeProto& attribute = *message.add_attr();
  attribute.set_name(name);
  return attribute;
}

std::uint64_t microseconds(double seconds) {
  return static_cast<std::uint64_t>(std::llround(1e6 * std::max(seconds, 0.0)));
}

// At least 1, because readers leave out a node without; at most what an int64 of the format holds.
std::int64_t amount(double value) {
  constexpr double kMost = 9e18;
  return std::max<std::int64_t>(1, std::llround(std::min(value, kMost)));
}

chakra::CollectiveCommType type_of(std::string_view operation) {
  if (operation == name(Operation::all_reduce)) {
    return chakra::ALL_REDUCE;
  }
  if (operation == name(Operation::reduce_scatter)) {
    return chakra::REDUCE_SCATTER;
  }
  if (operation == name(Operation::all_gather)) {
    return chakra::ALL_GATHER;
  }
  SHARDSCOPE_CHECK(operation == name(Operation::broadcast), "a collective of no training");
  return chakra::BROADCAST;
}

class TraceBuilder {
 public:
  TraceBuilder(const RankRecording& step, const CommunicatorGroups& groups)
      : step_(step), groups_(groups), ends_(static_cast<std::size_t>(step.communication_size())) {}

  std::vector<chakra::Node> build() {
    for (const ComputeOperation& operation : step_.compute()) {
      switch (operation.kind()) {
        case ComputeOperation::KERNEL:
          add_kernel(operation);
          break;
        case ComputeOperation::ENQUEUE:
          add_collective(operation.collective());
          break;
        case ComputeOperation::WAIT:
          waited_.insert(ends_[static_cast<std::size_t>(operation.collective())]);
          break;
      }
    }
    return std::move(nodes_);
  }

 private:
  chakra::Node& add(const std::string& name, chakra::NodeType type, double begin_s) {
    chakra::Node& node = nodes_.emplace_back();
    node.set_id(nodes_.size());
    node.set_name(name);
    node.set_type(type);
    node.set_start_time_micros(microseconds(begin_s - step_.begin_s()));
    add_attribute(node, "is_cpu_op").set_bool_val(false);
    return node;
  }

  static void depend(chakra::Node& node, std::uint64_t on) {
    if (on != kNoNode) {
      node.add_data_deps(on);
    }
  }

  void add_kernel(const ComputeOperation& operation) {
    chakra::Node& node =
        add(operation_name(step_, operation), chakra::COMP_NODE, operation.begin_s());
    const std::uint64_t before = microseconds(compute_s_);
    compute_s_ += operation.end_s() - operation.begin_s();
    node.set_duration_micros(microseconds(compute_s_) - before);
    add_attribute(node, "num_ops").set_int64_val(amount(operation.flops()));
    add_attribute(node, "tensor_size")
        .set_uint64_val(static_cast<std::uint64_t>(amount(operation.bytes())));
    depend(node, last_kernel_);
    for (const std::uint64_t collective : waited_) {
      depend(node, collective);
    }
    waited_.clear();
    last_kernel_ = node.id();
  }

  void add_collective(int index) {
    const RecordedCollective& collective = step_.communication(index);
    if (collective.group().size() > 1 && collective.bytes() > 0) {
      add_moving(collective);
    }
    // One that has no node is done when those before it are.
    ends_[static_cast<std::size_t>(index)] = last_collective_;
  }

  void add_moving(const RecordedCollective& collective) {
    chakra::Node& node = add(collective.name(), chakra::COMM_COLL_NODE, collective.begin_s());
    node.set_duration_micros(microseconds(collective.end_s() - collective.begin_s()));
    const chakra::CollectiveCommType type = type_of(collective.operation());
    const std::uint64_t bytes =
        type == chakra::ALL_GATHER ? collective.chunk_bytes() : collective.bytes();
    add_attribute(node, "comm_type").set_int64_val(type);
    add_attribute(node, "comm_size").set_int64_val(static_cast<std::int64_t>(bytes));
    if (const int number = groups_.number(collective.group()); number > 0) {
      add_attribute(node, "pg_name").set_string_val(std::to_string(number));
    }
    depend(node, last_kernel_);
    depend(node, last_collective_);
    last_collective_ = node.id();
  }

  const RankRecording& step_;
  const CommunicatorGroups& groups_;
  std::vector<chakra::Node> nodes_;
  std::vector<std::uint64_t> ends_;  // By collective, the node at whose end it is done.
  std::set<std::uint64_t> waited_;   // Since the last kernel; maybe kNoNode.
  std::uint64_t last_kernel_ = kNoNode;
  std::uint64_t last_collective_ = kNoNode;
  double compute_s_ = 0;
};

chakra::GlobalMetadata metadata(const RankRecording& step, const ChakraAbout& about) {
  chakra::GlobalMetadata message;
  message.set_version(kSchemaVersion);
  add_attribute(message, "shardscope").set_string_val(about.version);
  add_attribute(message, "scenario").set_string_val(about.scenario);
  add_attribute(message, "strategy").set_string_val(about.strategy);
  add_attribute(message, "rank").set_int64_val(step.rank());
  add_attribute(message, "step").set_int64_val(step.step());
  return message;
}

}  // namespace

std::string chakra_trace(const RankRecording& step, const CommunicatorGroups& groups,
                         const ChakraAbout& about) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    const auto write = [&](const google::protobuf::MessageLite& message) {
      google::protobuf::util::SerializeDelimitedToCodedStream(message, &coded);
    };
    write(metadata(step, about));
    for (const chakra::Node& node : TraceBuilder(step, groups).build()) {
      write(node);
    }
  }
  return bytes;
}

}  // namespace shardscope
