// The faults of one file. Nobody reads thousands: past the first hundred they are only counted.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/text/fault.h"

namespace shardscope {

class FaultList {
 public:
  /// `faults` must outlive the list.
  FaultList(std::string path, std::vector<Fault>& faults)
      : path_(std::move(path)), faults_(faults) {}
  FaultList(const FaultList&) = delete;
  FaultList& operator=(const FaultList&) = delete;

  /// Says how many faults were left out.
  ~FaultList();

  /// Line 0 is the file as a whole.
  void add(std::size_t line, std::string field, std::string problem, std::string allowed = {},
           std::string nearest = {}) {
    add_at(line, 0, std::move(field), std::move(problem), std::move(allowed), std::move(nearest));
  }

  /// Column 0 is the line as a whole.
  void add_at(std::size_t line, std::size_t column, std::string field, std::string problem,
              std::string allowed = {}, std::string nearest = {});

  bool empty() const { return count_ == 0; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<Fault>& faults_;
  std::size_t count_ = 0;
};

}  // namespace shardscope
