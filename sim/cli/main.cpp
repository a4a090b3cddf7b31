// The command line: options and their help. What the commands do is in run_command.cpp and
// commands.cpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sim/checkpoint/manifest.h"
#include "sim/cli/commands.h"
#include "sim/cli/option_errors.h"
#include "sim/cli/output.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace {

constexpr const char* kExamples = R"(Examples:
  shardscope init my.textproto                      a commented scenario to start from
  shardscope check my.textproto                     every fault of a file at once
  shardscope run my.textproto                       train it and print the report
  shardscope run my.textproto --set cluster.link.bandwidth=100Gbps --quiet
  shardscope run my.textproto --strategy DDP,ZERO3 --json result.json
  shardscope run my.textproto --trace trace.json --trace-steps 2..3 --critical-path
  shardscope sweep my.textproto --axis cluster.world_size=2,4,8 --out results
  shardscope explain my.textproto --strategy ZERO1  one step, number by number
  shardscope memory --parameters 7.5e9,128e9 --world-size 1,4,64
  shardscope plan --hf-config config.json --cluster dgx-h100   which strategy, and why
  shardscope collective my.textproto --algorithm all  times of an all_reduce, by size
  shardscope topology my.textproto                  what its cluster is, and where it is narrow
  shardscope platforms dgx-h100                     a node of the catalogue, with sources
  shardscope checkpoint inspect checkpoints/ZERO1   what the newest checkpoint holds

Exit codes: 0 done (a simulated out-of-memory is a result), 1 a simulation died,
2 a fault in a file, an argument or an output.)";

constexpr const char* kRunExamples = R"(Examples:
  shardscope run my.textproto --quiet
  shardscope run my.textproto --set cluster.link.bandwidth=100Gbps --set training.steps=5
  shardscope run my.textproto --strategy DDP,ZERO3 --json result.json --save-weights weights
  shardscope run my.textproto --strategy ZERO3 --chakra zero3    zero3.0.et, zero3.1.et, ...)";

constexpr const char* kSweepExamples = R"(Examples:
  shardscope sweep my.textproto --out results
  shardscope sweep my.textproto --out results --resume
  shardscope sweep my.textproto --axis cluster.link.bandwidth=1Gbps..400Gbps:12:log \
    --axis cluster.world_size=2,4,8,16 --strategy DDP,ZERO3 --out results

Exit codes: 0 done, whatever came of the points; 2 a fault in a file, an argument or
an output; 130 interrupted.)";

constexpr const char* kMergeExample = R"(Example:
  shardscope merge results-1 results-2 results-3 --out results)";
constexpr const char* kExplainExamples = R"(Examples:
  shardscope explain my.textproto --strategy ZERO1
  shardscope explain my.textproto --step 3 --markdown > step.md
  shardscope explain my.textproto --set cluster.world_size=2 --set model.layers=[2,2,1])";

constexpr const char* kMemoryExamples = R"(Examples:
  shardscope memory --parameters 7.5e9,128e9 --world-size 1,4,64
  shardscope memory --parameters 2851M --world-size 8 --largest-layer 32899072)";

constexpr const char* kCollectiveExamples = R"(Examples:
  shardscope collective my.textproto
  shardscope collective my.textproto --op all_gather --bytes 1MiB..1GiB:4
  shardscope collective my.textproto --bytes 64MiB --algorithm all)";

constexpr const char* kPlanExamples = R"(Examples:
  shardscope plan --hf-config config.json --cluster dgx-a100 --ranks 8,64
  shardscope plan my.textproto --micro-batch 1,2,4,8 --html plan.html
  shardscope plan --hf-config config.json --deepspeed ds_config.json --cluster my.textproto
  shardscope plan --hf-config config.json --accelerate fsdp.yaml --cluster platform.xml \
    --set cluster.device.preset=a100-80g --sequence 4096

Every strategy, micro-batch and choice of recomputation is simulated for an optimizer step,
collectives as flows. CLUSTER is a scenario with a cluster, a topology file, or a node of
the catalogue: then as many as the ranks need, on a switch that is no bottleneck. Without
--ranks: those of the configuration or the scenario, else 8 and 64. Without --micro-batch:
that of the configuration, else 1, 2 and 4.)";

constexpr const char* kTopologyExamples = R"(Examples:
  shardscope topology my.textproto
  shardscope topology my.textproto --dot - | dot -Tsvg > cluster.svg
  shardscope topology my.textproto --set cluster.fabric.kind=RING --json cluster.json)";

constexpr const char* kPlatformsExamples = R"(Examples:
  shardscope platforms
  shardscope platforms dgx-h100
  shardscope platforms --json platforms.json)";

constexpr const char* kCheckExamples = R"(Examples:
  shardscope check my.textproto other.textproto
  shardscope check my.textproto --set cluster.world_size=16)";

constexpr const char* kCheckpointExamples = R"(Examples:
  shardscope checkpoint inspect checkpoints/ZERO1
  shardscope checkpoint verify checkpoints
  shardscope checkpoint reshard checkpoints/ZERO1 --world-size 3 --out resharded
  shardscope checkpoint consolidate checkpoints/ZERO1 --out weights.safetensors

DIR is the folder of a step, or that of a strategy, whose newest step is then meant.)";

constexpr const char* kInitExample = R"(Example:
  shardscope init my.textproto)";

constexpr const char* kSchemaExample = R"(Example:
  shardscope schema | less)";

using shardscope::CheckArguments;
using shardscope::CheckpointConsolidateArguments;
using shardscope::CheckpointInspectArguments;
using shardscope::CheckpointReshardArguments;
using shardscope::CheckpointVerifyArguments;
using shardscope::CollectiveArguments;
using shardscope::ExplainArguments;
using shardscope::MemoryArguments;
using shardscope::MergeArguments;
using shardscope::PlanArguments;
using shardscope::PlatformsArguments;
using shardscope::RunArguments;
using shardscope::SweepArguments;
using shardscope::TopologyArguments;

// An empty value, as of an unset shell variable, would count as no option at all.
std::string why_empty(const std::string& value) { return value.empty() ? "must not be empty" : ""; }

// Options that are whole numbers say what is allowed in our words, before they are converted.
CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        return shardscope::why_not_whole(text, least, most);
      },
      "");
}

void add_set(CLI::App& command, std::vector<std::string>& set, const std::string& help) {
  command.add_option("--set", set, help)
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

// What replaces fields of the scenario. `verb` is what the command does with strategies.
void add_overrides(CLI::App& command, std::vector<std::string>& set,
                   std::optional<std::string>& strategy, const std::string& verb,
                   const std::string& layers) {
  add_set(command, set, "Override a field, e.g. model.layers=" + layers);
  command.add_option("--strategy", strategy, verb + " these instead of the scenario's")
      ->type_name("A,B")
      ->check(why_empty);
}

void add_run(CLI::App& app, RunArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Train a scenario on its simulated cluster");
  command->footer(kRunExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (text format)")
      ->required()
      ->type_name("SCENARIO");
  add_overrides(*command, arguments.set, arguments.strategy, "Run", "[8,8]");
  command->add_option("--json", arguments.json, "Write the report as JSON; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command
      ->add_option("--html", arguments.html, "Write the report as a page with charts; - as above")
      ->type_name("FILE")
      ->check(why_empty);
  command
      ->add_option("--resume", arguments.resume,
                   "Go on from the newest checkpoint in DIR, at any world size and strategy")
      ->type_name("DIR")
      ->check(why_empty);
  command
      ->add_option("--save-weights", arguments.save_weights,
                   "Write the final fp32 weights to DIR/<STRATEGY>.safetensors")
      ->type_name("DIR")
      ->check(why_empty);
  command
      ->add_option("--trace", arguments.trace,
                   "Write a timeline that ui.perfetto.dev opens (Chrome trace events)")
      ->type_name("FILE")
      ->check(why_empty);
  command->add_option("--trace-steps", arguments.trace_steps, "Steps in the trace [all]")
      ->type_name("A..B");
  command
      ->add_option("--chakra", arguments.chakra,
                   "Write a single strategy's last step for ASTRA-sim: PREFIX.<rank>.et (Chakra)")
      ->type_name("PREFIX")
      ->check(why_empty);
  command->add_flag("--critical-path", arguments.critical_path,
                    "Show what the last step's time hangs on, and what would shorten it");
  command
      ->add_option("--threads", arguments.threads,
                   "Host threads for the ranks' arithmetic; no result depends on it")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command->add_flag("--quiet", arguments.quiet, "Print the summary alone");
  command->callback([&] { exit_code = run_command(arguments); });
}

void add_sweep(CLI::App& app, SweepArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("sweep", "Run a scenario over the values of its fields");
  command->footer(kSweepExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (text format)")
      ->required()
      ->type_name("SCENARIO");
  command
      ->add_option("--axis", arguments.axes,
                   "Add an axis, or replace that of the same field: FIELD=V1,V2,... or "
                   "FIELD=FROM..TO:POINTS[:log]")
      ->type_name("AXIS")
      ->allow_extra_args(false)
      ->take_all();
  add_overrides(*command, arguments.set, arguments.strategy, "Run", "[8,8]");
  command->add_option("--out", arguments.out, "Folder for the results: new or empty")
      ->required()
      ->type_name("DIR")
      ->check(why_empty);
  command->add_option("--jobs", arguments.jobs, "Simulations at once; default: the cores")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  command->add_flag("--resume", arguments.resume, "Go on with the sweep in DIR");
  command->add_option("--shard", arguments.shard, "Run part I of N, to be merged")
      ->type_name("I/N")
      ->check(why_empty);
  command->callback([&] { exit_code = sweep_command(arguments); });
}

void add_merge(CLI::App& app, MergeArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("merge", "Join the shards of a sweep");
  command->footer(kMergeExample);
  command->add_option("folders", arguments.folders, "Folders of all shards")
      ->required()
      ->type_name("DIR");
  command->add_option("--out", arguments.out, "Folder for the whole: new or empty")
      ->required()
      ->type_name("DIR")
      ->check(why_empty);
  command->callback([&] { exit_code = merge_command(arguments); });
}

void add_explain(CLI::App& app, ExplainArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explain", "Tell one step of a tiny scenario, number by number");
  command->footer(kExplainExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (2 to 4 ranks)")
      ->required()
      ->type_name("SCENARIO");
  command->add_option("--step", arguments.step, "The step; those before it are run silently")
      ->type_name("T")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  add_overrides(*command, arguments.set, arguments.strategy, "Explain", "[2,2,1]");
  command->add_flag("--markdown", arguments.markdown, "Print Markdown instead of text");
  command->callback([&] { exit_code = explain_command(arguments); });
}

void add_memory(CLI::App& app, MemoryArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("memory", "Table of formulas: model states per rank and strategy");
  command->footer(kMemoryExamples);
  command->add_option("--parameters", arguments.parameters, "Parameter counts, e.g. 7.5e9,128e9")
      ->required()
      ->type_name("P,...");
  command->add_option("--world-size", arguments.world_sizes, "Numbers of ranks, e.g. 1,4,64")
      ->required()
      ->type_name("N,...");
  arguments.precision = "bf16";
  command->add_option("--precision", arguments.precision, "fp32, bf16 or fp16")
      ->type_name("TYPE")
      ->capture_default_str();
  command
      ->add_option("--largest-layer", arguments.largest_layer,
                   "Parameters of the largest layer: also show DeepSpeed's memory estimates")
      ->type_name("E")
      ->check(why_empty);
  command->add_option("--json", arguments.json, "Write the table as JSON; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command->callback([&] { exit_code = memory_command(arguments); });
}

void add_collective(CLI::App& app, CollectiveArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("collective", "Time one collective on a scenario's cluster, by size");
  command->footer(kCollectiveExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (text format)")
      ->required()
      ->type_name("SCENARIO");
  command
      ->add_option("--op", arguments.operation,
                   "all_reduce, reduce_scatter, all_gather or broadcast")
      ->type_name("OP")
      ->capture_default_str();
  command
      ->add_option("--bytes", arguments.bytes,
                   "Size of the vector, or a range of sizes that double: FROM..TO[:FACTOR]")
      ->type_name("SIZES")
      ->capture_default_str();
  command
      ->add_option("--algorithm", arguments.algorithm,
                   "These instead of the scenario's, or all: RING,DIRECT,...")
      ->type_name("A,B")
      ->check(why_empty);
  add_set(*command, arguments.set, "Override a field, e.g. cluster.world_size=16");
  command->add_option("--json", arguments.json, "Write the figures as JSON; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command->callback([&] { exit_code = collective_command(arguments); });
}

void add_topology(CLI::App& app, TopologyArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("topology", "Show a scenario's cluster: links, routes, bottlenecks");
  command->footer(kTopologyExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (text format)")
      ->required()
      ->type_name("SCENARIO");
  add_set(*command, arguments.set, "Override a field, e.g. cluster.fabric.kind=RING");
  command->add_option("--dot", arguments.dot, "Write the graph for Graphviz; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command->add_option("--json", arguments.json, "Write the facts as JSON; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command->callback([&] { exit_code = topology_command(arguments); });
}

void add_plan(CLI::App& app, PlanArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("plan", "Compare strategies for a real model on a cluster, and advise");
  command->footer(kPlanExamples);
  command->add_option("scenario", arguments.scenario, "Scenario file (text format)")
      ->type_name("SCENARIO")
      ->check(why_empty);
  const auto option = [&](const char* name, std::optional<std::string>& value, const char* help,
                          const char* type) {
    command->add_option(name, value, help)->type_name(type)->check(why_empty);
  };
  option("--hf-config", arguments.hf_config, "The model: a Hugging Face config.json", "FILE");
  option("--deepspeed", arguments.deepspeed, "A DeepSpeed configuration", "FILE");
  option("--accelerate", arguments.accelerate, "A configuration of accelerate launch", "FILE");
  option("--cluster", arguments.cluster, "Instead of a scenario: where to train", "CLUSTER");
  option("--ranks", arguments.ranks, "Numbers of ranks, e.g. 8,64,512", "LIST");
  option("--micro-batch", arguments.micro_batch, "Rows of a rank's micro-step, e.g. 1,2,4", "LIST");
  option("--sequence", arguments.sequence, "Tokens of a row", "TOKENS");
  option("--strategy", arguments.strategy, "Strategies to compare, separated by commas", "LIST");
  add_set(*command, arguments.set, "Override a field, e.g. model.fused_attention=false");
  option("--json", arguments.json, "Write the plan as JSON; - is standard output", "FILE");
  option("--html", arguments.html, "Write the plan as a page with charts; - as above", "FILE");
  command->callback([&] { exit_code = plan_command(arguments); });
}

void add_platforms(CLI::App& app, PlatformsArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("platforms", "List the devices, nodes and fabrics of the catalogue");
  command->footer(kPlatformsExamples);
  command->add_option("name", arguments.name, "One of them: its figures and their sources")
      ->type_name("NAME")
      ->check(why_empty);
  command->add_option("--json", arguments.json, "Write the figures as JSON; - is standard output")
      ->type_name("FILE")
      ->check(why_empty);
  command->callback([&] { exit_code = platforms_command(arguments); });
}

void add_check(CLI::App& app, CheckArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "Read scenarios and report every fault");
  command->footer(kCheckExamples);
  command->add_option("scenario", arguments.scenarios, "Scenario files")
      ->required()
      ->type_name("SCENARIO");
  add_set(*command, arguments.set, "Override a field in each");
  command->callback([&] { exit_code = check_command(arguments); });
}

struct CheckpointArguments {
  CheckpointInspectArguments inspect;
  CheckpointVerifyArguments verify;
  CheckpointReshardArguments reshard;
  CheckpointConsolidateArguments consolidate;
};

CLI::App* add_checkpoint_command(CLI::App& app, const char* name, const char* description,
                                 std::string& checkpoint) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("checkpoint", checkpoint, "Folder of a step, or of a strategy: its newest")
      ->required()
      ->type_name("DIR");
  return command;
}

void add_checkpoint_out(CLI::App* command, std::string& out, const char* description,
                        const char* type_name) {
  command->add_option("--out", out, description)
      ->required()
      ->type_name(type_name)
      ->check(why_empty);
}

void add_checkpoint_reshard(CLI::App& app, CheckpointReshardArguments& arguments, int& exit_code) {
  CLI::App* command = add_checkpoint_command(
      app, "reshard", "Cut a checkpoint anew for another world size", arguments.checkpoint);
  command->add_option("--world-size", arguments.world_size, "Its ranks; by default as many")
      ->type_name("N")
      ->check(whole_number(1, shardscope::kMostCheckpointRanks));
  command->add_option("--strategy", arguments.strategy, "Its strategy; by default the same")
      ->type_name("S")
      ->check(why_empty);
  add_checkpoint_out(command, arguments.out, "The new checkpoint's folder", "DIR2");
  command->callback([&] { exit_code = checkpoint_reshard_command(arguments); });
}

void add_checkpoint(CLI::App& app, CheckpointArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("checkpoint", "Inspect and convert saved checkpoints");
  command->footer(kCheckpointExamples);
  command->require_subcommand(1);
  CLI::App* inspect = add_checkpoint_command(*command, "inspect", "Show what a checkpoint holds",
                                             arguments.inspect.checkpoint);
  inspect->add_flag("--json", arguments.inspect.json, "Print the manifest instead");
  inspect->callback([&] { exit_code = checkpoint_inspect_command(arguments.inspect); });
  CLI::App* verify =
      command->add_subcommand("verify", "Read all checkpoints of folders and report every fault");
  verify->add_option("checkpoints", arguments.verify.checkpoints, "Folders that hold checkpoints")
      ->required()
      ->type_name("DIR");
  verify->callback([&] { exit_code = checkpoint_verify_command(arguments.verify); });
  add_checkpoint_reshard(*command, arguments.reshard, exit_code);
  CLI::App* consolidate =
      add_checkpoint_command(*command, "consolidate", "Write the weights as one safetensors file",
                             arguments.consolidate.checkpoint);
  add_checkpoint_out(consolidate, arguments.consolidate.out, "The new file", "FILE");
  consolidate->callback([&] { exit_code = checkpoint_consolidate_command(arguments.consolidate); });
}

// Says so if the first word is no command, or the one behind a group of commands is none of them;
// CLI11 would ask for one without naming what it got.
bool is_unknown_command(const CLI::App& app, const std::vector<std::string>& words,
                        const std::string& place = "shardscope") {
  const std::string word = words.empty() ? "" : words.front();
  if (word.empty() || word.front() == '-') {
    return false;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    const CLI::App* command = app.get_subcommand(word);
    return !command->get_subcommands(nullptr).empty() &&
           is_unknown_command(*command, {words.begin() + 1, words.end()}, place + " " + word);
  }
  const std::string nearest = shardscope::nearest_name(word, names);
  std::fprintf(stderr, "%s\n",
               shardscope::format_fault({.place = place,
                                         .field = shardscope::shown(word),
                                         .problem = "no such command",
                                         .allowed = shardscope::one_of(names),
                                         .nearest = nearest})
                   .c_str());
  return true;
}

// What --help and --version ask for.
int print_help(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  app.exit(error, text, text);
  return shardscope::print(text.str());
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  return shardscope::report(
      {shardscope::option_fault(app, error), "Run with --help for more information."});
}

int run_program(int argc, char** argv) {
  CLI::App app(
      "Shardscope trains a model for real on a simulated cluster and shows what each\n"
      "data-parallel strategy costs: loss, memory, bytes on the wire, time.");
  app.name("shardscope");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", "shardscope " SHARDSCOPE_VERSION);

  int exit_code = 0;
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
  add_run(app, run, exit_code);
  add_sweep(app, sweep, exit_code);
  add_merge(app, merge, exit_code);
  add_explain(app, explain, exit_code);
  add_memory(app, memory, exit_code);
  add_collective(app, collective, exit_code);
  add_topology(app, topology, exit_code);
  add_plan(app, plan, exit_code);
  add_platforms(app, platforms, exit_code);
  add_check(app, check, exit_code);
  add_checkpoint(app, checkpoint, exit_code);
  CLI::App* init = app.add_subcommand("init", "Write a commented starter scenario");
  init->footer(kInitExample);
  init->add_option("file", init_path, "The new file; - is standard output")
      ->required()
      ->type_name("FILE");
  init->callback([&] { exit_code = shardscope::init_command(init_path); });
  app.add_subcommand("schema", "Print the schema of scenario files, with every field documented")
      ->footer(kSchemaExample)
      ->callback([&] { exit_code = shardscope::schema_command(); });

  if (is_unknown_command(app, {argv + 1, argv + argc})) {
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? print_help(app, error) : refuse(app, error);
  }
  return exit_code;
}

}  // namespace

// An exception that comes here is a bug of ours: it aborts.
int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // A file that grows too large is then a failed write.
  try {
    return run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shardscope: unexpected: %s\n", error.what());
  } catch (...) {
    std::fputs("shardscope: unexpected exception\n", stderr);
  }
  std::abort();
}
