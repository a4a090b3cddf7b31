#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/training/strategy.h"
#include "sim/checkpoint/faults.h"
#include "sim/checkpoint/inspect.h"
#include "sim/checkpoint/ownership.h"
#include "sim/checkpoint/reshard.h"
#include "sim/checkpoint/source.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/report/format.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

void append(const std::vector<Fault>& faults, Messages& messages) {
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
}

std::unique_ptr<CheckpointSource> open_source(const std::string& path, Messages& messages) {
  std::vector<Fault> faults;
  auto source = open_checkpoint(path, std::nullopt, faults);
  append(faults, messages);
  return source;
}

const Strategy* known_strategy(const std::string& name, Messages& messages) {
  const Strategy* strategy = find_strategy(name);
  if (strategy == nullptr) {
    std::vector<std::string> names;
    for (const Strategy& known : all_strategies()) {
      names.emplace_back(known.name);
    }
    messages.push_back(format_fault(fault_at("--strategy", "", quoted(name) + " is no strategy",
                                             one_of(names), nearest_name(name, names))));
  }
  return strategy;
}

std::string size_words(const CheckpointSource& source) {
  return format_count(source.file_count()) + (source.file_count() == 1 ? " file, " : " files, ") +
         format_count(source.bytes()) + " B";
}

/// Verifies one folder and says so. The exit code.
int verify_one(const std::string& folder) {
  std::vector<Fault> faults;
  const auto source = CheckpointSource::open(folder, faults);
  if (source == nullptr) {
    Messages messages;
    append(faults, messages);
    return report(messages);
  }
  return print(printable(folder) + ": OK, " + checkpoint_words(source->manifest()) + ", " +
               size_words(*source) + "\n");
}

}  // namespace

int checkpoint_inspect_command(const CheckpointInspectArguments& arguments) {
  Messages messages;
  const auto source = open_source(arguments.checkpoint, messages);
  if (source == nullptr) {
    return report(messages);
  }
  return print(arguments.json ? manifest_text(source->manifest()) : checkpoint_text(*source));
}

int checkpoint_verify_command(const CheckpointVerifyArguments& arguments) {
  int code = 0;
  for (const std::string& path : arguments.checkpoints) {
    std::vector<Fault> faults;
    const std::vector<std::string> folders = find_checkpoints(path, faults);
    Messages messages;
    append(faults, messages);
    if (report(messages) != 0) {
      code = kFaultsExit;
    }
    for (const std::string& folder : folders) {
      if (verify_one(folder) != 0) {
        code = kFaultsExit;
      }
      if (std::ferror(stdout) != 0) {
        return code;
      }
    }
  }
  return code;
}

int checkpoint_reshard_command(const CheckpointReshardArguments& arguments) {
  Messages messages;
  const auto source = open_source(arguments.checkpoint, messages);
  const Strategy* strategy = nullptr;
  if (arguments.strategy.has_value()) {
    strategy = known_strategy(*arguments.strategy, messages);
  } else if (source != nullptr) {
    strategy = known_strategy(source->manifest().run.strategy, messages);
  }
  if (!messages.empty()) {
    return report(messages);
  }
  const CheckpointRun& run = source->manifest().run;
  const int world_size = arguments.world_size.value_or(run.world_size);
  const ReshardTarget target{.strategy = std::string(strategy->name),
                             .ownership = owned_ranges(*strategy, run.model, world_size)};
  std::string error;
  const auto saved =
      reshard(*source, target, "shardscope " SHARDSCOPE_VERSION, arguments.out, error);
  if (!saved.has_value()) {
    return report({error});
  }
  CheckpointManifest written = source->manifest();
  written.run.strategy = target.strategy;
  written.run.world_size = world_size;
  return print("wrote " + printable(arguments.out) + ": " + checkpoint_words(written) + "\n");
}

int checkpoint_consolidate_command(const CheckpointConsolidateArguments& arguments) {
  Messages messages;
  const auto source = open_source(arguments.checkpoint, messages);
  if (source == nullptr) {
    return report(messages);
  }
  if (const auto error = consolidate(*source, arguments.out)) {
    return report({*error});
  }
  return print("wrote " + printable(arguments.out) + ": the weights of " +
               checkpoint_words(source->manifest()) + "\n");
}

}  // namespace shardscope
