// The commands of the program, their options and their help.
#pragma once

#include <string>

#include "sim/cli/commands.h"

namespace CLI {
class App;
}

namespace shardscope {

struct CheckpointArguments {
  CheckpointInspectArguments inspect;
  CheckpointVerifyArguments verify;
  CheckpointReshardArguments reshard;
  CheckpointConsolidateArguments consolidate;
};

/// Of every command.
struct CommandArguments {
  RunArguments run;
  SweepArguments sweep;
  MergeArguments merge;
  ExplainArguments explain;
  MemoryArguments memory;
  CollectiveArguments collective;
  TopologyArguments topology;
  PlanArguments plan;
  PlatformsArguments platforms;
  CheckArguments check;
  CheckpointArguments checkpoint;
  std::string init_path;
};

/// Parsing the command line fills the arguments of the command that it names, runs it and sets the
/// exit code. All must outlive the parsing.
void add_commands(CLI::App& app, CommandArguments& arguments, int& exit_code);

}  // namespace shardscope
