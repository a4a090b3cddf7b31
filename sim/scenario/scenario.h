// A scenario, read, checked and resolved: every default filled in, every unit converted, every path
// absolute. Plain values; what reads them from a file is reader.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/model.h"
#include "core/training/options.h"
#include "core/training/strategy.h"
#include "sim/scenario/cluster.h"

namespace shardscope {

/// A rank's device. Rates are peaks; efficiencies in (0, 1] scale them to what is reached.
struct DeviceSpec {
  std::string preset;  ///< Name in the catalogue, empty if each field was given.
  std::uint64_t memory_bytes = 0;
  double peak_flops_per_s = 0;  ///< For the scenario's precision.
  double memory_bandwidth_bytes_per_s = 0;
  double compute_efficiency = 1;
  double memory_efficiency = 1;
  double launch_overhead_s = 0;       ///< Added to every kernel.
  double communication_slowdown = 1;  ///< Of kernels while a collective is in flight.
};

/// What a node's host does where the optimizer is its (TrainingOptions::optimizer_on_host).
struct HostSpec {
  double link_bytes_per_s = 0;       ///< To each device, and back.
  double adam_parameters_per_s = 0;  ///< Shared by the ranks of the node.
};

/// Checkpoints of a run, and where they go.
struct CheckpointSpec {
  std::string directory;
  std::int64_t every_steps = 1;
  std::size_t keep = 2;
  double bandwidth_bytes_per_s = 0;  ///< Of each rank's way to the storage.
};

struct Scenario {
  std::string name;
  ModelSpec model;
  std::string model_file;                ///< A Hugging Face configuration; empty for none.
  std::vector<std::string> model_notes;  ///< What it leaves to defaults, and what is not modelled.
  std::uint64_t seed = 1;
  std::optional<std::string> weights_file;
  std::optional<std::string> data_file;
  TrainingOptions training;
  int world_size = 1;
  DeviceSpec device;
  HostSpec host;
  Cluster cluster;
  std::optional<CheckpointSpec> checkpoint;
  std::vector<Strategy> strategies;

  /// Hash of the resolved scenario, 16 hex digits: equal for equal content, however it was written.
  std::string digest;
};

}  // namespace shardscope
