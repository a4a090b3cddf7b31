// Faults in what a user wrote: a scenario file, a command-line argument, a tensor file. They are
// values; a reader collects every fault it can find into a list before giving up.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

struct Fault {
  /// file:line:column, a file, or the argument: "quickstart.textproto:7:14", "--set name=".
  std::string place;
  /// Path of the field, e.g. "training.precision"; empty if the fault concerns no single field.
  std::string field;
  /// What is wrong, with the value as it was written: "7 is not allowed", "unknown field".
  std::string problem;
  /// What would be right: "one of FP32, BF16, FP16". May be empty.
  std::string allowed;
  /// The valid name nearest to a misspelt one. Empty if none is near.
  std::string nearest;
  /// Whether the values concerned are allowed one by one, and wrong only together: a batch that the
  /// ranks do not divide.
  bool of_combination = false;
};

/// One line, without a line break:
///   quickstart.textproto:7:14: training.precision: 7 is not allowed; one of FP32, BF16, FP16
///   quickstart.textproto:12:5: cluster.link.bandwith: unknown field; did you mean "bandwidth"?
///   (one of bandwidth, latency)
std::string format_fault(const Fault& fault);

/// "one of A, B, C".
std::string one_of(std::span<const std::string> names);

}  // namespace shardscope
