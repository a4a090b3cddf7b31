// What the program's commands do once their arguments are parsed. Each returns the exit code: 0, 2
// for faults in what the user gave (all of them on standard error, nothing written), 1 if a
// simulation died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardscope {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;         ///< FIELD=VALUE
  std::optional<std::string> strategy;  ///< Comma-separated names.
  std::optional<std::string> json;      ///< "-" is standard output.
  std::optional<std::string> html;      ///< The same.
  std::optional<std::string> save_weights;
  std::optional<std::string> resume;  ///< A checkpoint, or a folder of some.
  std::optional<std::string> trace;
  std::optional<std::string> trace_steps;  ///< "2..3" or "2"; all if absent.
  std::optional<std::string> chakra;       ///< What the names of its files begin with.
  bool critical_path = false;
  int threads = 1;
  bool quiet = false;
};
int run_command(const RunArguments& arguments);

struct ExplainArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::optional<std::string> strategy;
  std::int64_t step = 1;
  bool markdown = false;
};
int explain_command(const ExplainArguments& arguments);

struct MemoryArguments {
  std::string parameters;
  std::string world_sizes;
  std::string precision;
  std::optional<std::string> largest_layer;  ///< Shows DeepSpeed's estimates as well.
  std::optional<std::string> json;
};
int memory_command(const MemoryArguments& arguments);

struct CollectiveArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string operation = "all_reduce";
  std::string bytes = "8..128MiB";
  std::optional<std::string> algorithm;  ///< Comma-separated names, or "all".
  std::optional<std::string> json;       ///< "-" is standard output.
};
int collective_command(const CollectiveArguments& arguments);

struct TopologyArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::optional<std::string> dot;   ///< "-" is standard output.
  std::optional<std::string> json;  ///< The same.
};
int topology_command(const TopologyArguments& arguments);

struct PlanArguments {
  std::optional<std::string> scenario;
  std::optional<std::string> cluster;  ///< A file, or a node of the catalogue.
  std::optional<std::string> hf_config;
  std::optional<std::string> deepspeed;
  std::optional<std::string> accelerate;
  std::optional<std::string> ranks;  ///< Comma-separated, as the next.
  std::optional<std::string> micro_batch;
  std::optional<std::string> sequence;
  std::optional<std::string> strategy;
  std::vector<std::string> set;
  std::optional<std::string> json;  ///< "-" is standard output.
  std::optional<std::string> html;  ///< The same.
};
int plan_command(const PlanArguments& arguments);

struct PlatformsArguments {
  std::optional<std::string> name;  ///< Of one entry; by default all.
  std::optional<std::string> json;
};
int platforms_command(const PlatformsArguments& arguments);

struct CheckArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
};
int check_command(const CheckArguments& arguments);

struct SweepArguments {
  std::string scenario;
  std::vector<std::string> axes;        ///< FIELD=V1,V2,... or FIELD=FROM..TO:POINTS[:log]
  std::vector<std::string> set;         ///< FIELD=VALUE
  std::optional<std::string> strategy;  ///< Comma-separated names.
  std::string out;                      ///< The folder of the results.
  std::optional<std::size_t> jobs;      ///< By default the cores.
  bool resume = false;
  std::optional<std::string> shard;  ///< I/N
};
/// 128 + the signal if it was interrupted. A row that failed is a result.
int sweep_command(const SweepArguments& arguments);

struct MergeArguments {
  std::vector<std::string> folders;
  std::string out;
};
int merge_command(const MergeArguments& arguments);

struct CheckpointInspectArguments {
  std::string checkpoint;  ///< A step's folder, or one that holds it; so below.
  bool json = false;
};
int checkpoint_inspect_command(const CheckpointInspectArguments& arguments);

struct CheckpointVerifyArguments {
  std::vector<std::string> checkpoints;
};
int checkpoint_verify_command(const CheckpointVerifyArguments& arguments);

struct CheckpointReshardArguments {
  std::string checkpoint;
  std::optional<int> world_size;        ///< By default that of the checkpoint.
  std::optional<std::string> strategy;  ///< The same.
  std::string out;
};
int checkpoint_reshard_command(const CheckpointReshardArguments& arguments);

struct CheckpointConsolidateArguments {
  std::string checkpoint;
  std::string out;
};
int checkpoint_consolidate_command(const CheckpointConsolidateArguments& arguments);

/// Writes the commented starter scenario; never over an existing file.
int init_command(const std::string& path);

/// Prints the schema of scenario files.
int schema_command();

}  // namespace shardscope
