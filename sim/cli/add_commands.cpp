#include "sim/cli/add_commands.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/checkpoint/manifest.h"
#include "sim/cli/command_examples.h"
#include "sim/cli/option_errors.h"

namespace shardscope {
namespace {

constexpr std::int64_t kMostTokens = 16'777'216;  // As model.sequence_length.

// An empty value, as of an unset shell variable, would count as no option at all.
std::string why_empty(const std::string& value) { return value.empty() ? "must not be empty" : ""; }

// An option with a word: a file, a list, a size.
template <typename Value>
CLI::Option* add_text(CLI::App& command, const char* name, Value& value, const std::string& help,
                      const char* type) {
  return command.add_option(name, value, help)->type_name(type)->check(why_empty);
}

// Options that are whole numbers say what is allowed in our words, before they are converted.
CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) { return why_not_whole(text, least, most); }, "");
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
  add_text(command, "--strategy", strategy, verb + " these instead of the scenario's", "A,B");
}

void add_scenario(CLI::App& command, std::string& scenario, const char* help) {
  command.add_option("scenario", scenario, help)->required()->type_name("SCENARIO");
}

void add_run(CLI::App& app, RunArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Train a scenario on its simulated cluster");
  command->footer(kRunExamples);
  add_scenario(*command, arguments.scenario, "Scenario file (text format)");
  add_overrides(*command, arguments.set, arguments.strategy, "Run", "[8,8]");
  add_text(*command, "--json", arguments.json, "Write the report as JSON; - is standard output",
           "FILE");
  add_text(*command, "--html", arguments.html, "Write the report as a page with charts; - as above",
           "FILE");
  add_text(*command, "--resume", arguments.resume,
           "Go on from the newest checkpoint in DIR, at any world size and strategy", "DIR");
  add_text(*command, "--save-weights", arguments.save_weights,
           "Write the final fp32 weights to DIR/<STRATEGY>.safetensors", "DIR");
  add_text(*command, "--trace", arguments.trace,
           "Write a timeline that ui.perfetto.dev opens (Chrome trace events)", "FILE");
  command->add_option("--trace-steps", arguments.trace_steps, "Steps in the trace [all]")
      ->type_name("A..B");
  add_text(*command, "--chakra", arguments.chakra,
           "Write a single strategy's last step for ASTRA-sim: PREFIX.<rank>.et (Chakra)",
           "PREFIX");
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
  add_scenario(*command, arguments.scenario, "Scenario file (text format)");
  command
      ->add_option("--axis", arguments.axes,
                   "Add an axis, or replace that of the same field: FIELD=V1,V2,... or "
                   "FIELD=FROM..TO:POINTS[:log]")
      ->type_name("AXIS")
      ->allow_extra_args(false)
      ->take_all();
  add_overrides(*command, arguments.set, arguments.strategy, "Run", "[8,8]");
  add_text(*command, "--out", arguments.out, "Folder for the results: new or empty", "DIR")
      ->required();
  command->add_option("--jobs", arguments.jobs, "Simulations at once; default: the cores")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  command->add_flag("--resume", arguments.resume, "Go on with the sweep in DIR");
  add_text(*command, "--shard", arguments.shard, "Run part I of N, to be merged", "I/N");
  command->callback([&] { exit_code = sweep_command(arguments); });
}

void add_merge(CLI::App& app, MergeArguments& arguments, int& exit_code) {
  CLI::App* command = app.add_subcommand("merge", "Join the shards of a sweep");
  command->footer(kMergeExample);
  command->add_option("folders", arguments.folders, "Folders of all shards")
      ->required()
      ->type_name("DIR");
  add_text(*command, "--out", arguments.out, "Folder for the whole: new or empty", "DIR")
      ->required();
  command->callback([&] { exit_code = merge_command(arguments); });
}

void add_explain(CLI::App& app, ExplainArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explain", "Tell one step of a tiny scenario, number by number");
  command->footer(kExplainExamples);
  add_scenario(*command, arguments.scenario, "Scenario file (2 to 4 ranks)");
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
  add_text(*command, "--largest-layer", arguments.largest_layer,
           "Parameters of the largest layer: also show DeepSpeed's memory estimates", "E");
  add_text(*command, "--json", arguments.json, "Write the table as JSON; - is standard output",
           "FILE");
  command->callback([&] { exit_code = memory_command(arguments); });
}

void add_collective(CLI::App& app, CollectiveArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("collective", "Time one collective on a scenario's cluster, by size");
  command->footer(kCollectiveExamples);
  add_scenario(*command, arguments.scenario, "Scenario file (text format)");
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
  add_text(*command, "--algorithm", arguments.algorithm,
           "These instead of the scenario's, or all: RING,DIRECT,...", "A,B");
  add_set(*command, arguments.set, "Override a field, e.g. cluster.world_size=16");
  add_text(*command, "--json", arguments.json, "Write the figures as JSON; - is standard output",
           "FILE");
  command->callback([&] { exit_code = collective_command(arguments); });
}

void add_topology(CLI::App& app, TopologyArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("topology", "Show a scenario's cluster: links, routes, bottlenecks");
  command->footer(kTopologyExamples);
  add_scenario(*command, arguments.scenario, "Scenario file (text format)");
  add_set(*command, arguments.set, "Override a field, e.g. cluster.fabric.kind=RING");
  add_text(*command, "--dot", arguments.dot, "Write the graph for Graphviz; - is standard output",
           "FILE");
  add_text(*command, "--json", arguments.json, "Write the facts as JSON; - is standard output",
           "FILE");
  command->callback([&] { exit_code = topology_command(arguments); });
}

void add_plan(CLI::App& app, PlanArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("plan", "Compare strategies for a real model on a cluster, and advise");
  command->footer(kPlanExamples);
  add_text(*command, "scenario", arguments.scenario, "Scenario file (text format)", "SCENARIO");
  add_text(*command, "--hf-config", arguments.hf_config, "The model: a Hugging Face config.json",
           "FILE");
  add_text(*command, "--deepspeed", arguments.deepspeed, "A DeepSpeed configuration", "FILE");
  add_text(*command, "--accelerate", arguments.accelerate, "A configuration of accelerate launch",
           "FILE");
  add_text(*command, "--cluster", arguments.cluster, "Instead of a scenario: where to train",
           "CLUSTER");
  add_text(*command, "--ranks", arguments.ranks, "Numbers of ranks, e.g. 8,64,512", "LIST");
  add_text(*command, "--micro-batch", arguments.micro_batch,
           "Rows of a rank's micro-step, e.g. 1,2,4", "LIST");
  add_text(*command, "--sequence", arguments.sequence, "Tokens of a row", "TOKENS")
      ->check(whole_number(1, kMostTokens));
  add_text(*command, "--strategy", arguments.strategy, "Strategies to compare, separated by commas",
           "LIST");
  add_set(*command, arguments.set, "Override a field, e.g. model.fused_attention=false");
  add_text(*command, "--json", arguments.json, "Write the plan as JSON; - is standard output",
           "FILE");
  add_text(*command, "--html", arguments.html, "Write the plan as a page with charts; - as above",
           "FILE");
  command->callback([&] { exit_code = plan_command(arguments); });
}

void add_platforms(CLI::App& app, PlatformsArguments& arguments, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("platforms", "List the devices, nodes and fabrics of the catalogue");
  command->footer(kPlatformsExamples);
  add_text(*command, "name", arguments.name, "One of them: its figures and their sources", "NAME");
  add_text(*command, "--json", arguments.json, "Write the figures as JSON; - is standard output",
           "FILE");
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

CLI::App* add_checkpoint_command(CLI::App& app, const char* name, const char* description,
                                 std::string& checkpoint) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("checkpoint", checkpoint, "Folder of a step, or of a strategy: its newest")
      ->required()
      ->type_name("DIR");
  return command;
}

void add_checkpoint_reshard(CLI::App& app, CheckpointReshardArguments& arguments, int& exit_code) {
  CLI::App* command = add_checkpoint_command(
      app, "reshard", "Cut a checkpoint anew for another world size", arguments.checkpoint);
  command->add_option("--world-size", arguments.world_size, "Its ranks; by default as many")
      ->type_name("N")
      ->check(whole_number(1, kMostCheckpointRanks));
  add_text(*command, "--strategy", arguments.strategy, "Its strategy; by default the same", "S");
  add_text(*command, "--out", arguments.out, "The new checkpoint's folder", "DIR2")->required();
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
  add_text(*consolidate, "--out", arguments.consolidate.out, "The new file", "FILE")->required();
  consolidate->callback([&] { exit_code = checkpoint_consolidate_command(arguments.consolidate); });
}

void add_init(CLI::App& app, std::string& path, int& exit_code) {
  CLI::App* command = app.add_subcommand("init", "Write a commented starter scenario");
  command->footer(kInitExample);
  command->add_option("file", path, "The new file; - is standard output")
      ->required()
      ->type_name("FILE");
  command->callback([&] { exit_code = init_command(path); });
}

void add_schema(CLI::App& app, int& exit_code) {
  app.add_subcommand("schema", "Print the schema of scenario files, with every field documented")
      ->footer(kSchemaExample)
      ->callback([&] { exit_code = schema_command(); });
}

}  // namespace

void add_commands(CLI::App& app, CommandArguments& arguments, int& exit_code) {
  app.footer(kExamples);
  app.require_subcommand(1);
  add_run(app, arguments.run, exit_code);
  add_sweep(app, arguments.sweep, exit_code);
  add_merge(app, arguments.merge, exit_code);
  add_explain(app, arguments.explain, exit_code);
  add_memory(app, arguments.memory, exit_code);
  add_collective(app, arguments.collective, exit_code);
  add_topology(app, arguments.topology, exit_code);
  add_plan(app, arguments.plan, exit_code);
  add_platforms(app, arguments.platforms, exit_code);
  add_check(app, arguments.check, exit_code);
  add_checkpoint(app, arguments.checkpoint, exit_code);
  add_init(app, arguments.init_path, exit_code);
  add_schema(app, exit_code);
}

}  // namespace shardscope
