#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/files/atomic_file.h"
#include "sim/files/new_folder.h"
#include "sim/report/format.h"
#include "sim/run/interruption.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/identity.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/progress.h"
#include "sim/sweep/runner.h"
#include "sim/sweep/store.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// "2/8".
std::optional<Shard> parse_shard(const std::string& text, Messages& messages) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), end, shard.index);
  if (first_error == std::errc() && slash != end && *slash == '/') {
    const auto [rest, second_error] = std::from_chars(slash + 1, end, shard.count);
    if (second_error == std::errc() && rest == end && shard.index >= 1 &&
        shard.index <= shard.count && shard.count <= kMostPoints) {
      return shard;
    }
  }
  messages.push_back("--shard " + shown(text) +
                     ": is no shard; I/N with I from 1 to N, for example 2/8");
  return std::nullopt;
}

std::optional<Sweep> read_plan(const SweepArguments& arguments, const PointSource& source,
                               Messages& messages) {
  std::vector<Fault> faults;
  std::optional<Sweep> sweep = plan_sweep(source, arguments.axes, SHARDSCOPE_VERSION, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  const auto shard = arguments.shard.has_value() ? parse_shard(*arguments.shard, messages)
                                                 : std::optional(Shard{});
  if (!sweep.has_value() || !shard.has_value()) {
    return std::nullopt;
  }
  if (shard->count > sweep->point_count()) {
    messages.push_back("--shard " + *arguments.shard + ": more shards than points; at most " +
                       format_count(sweep->point_count()));
    return std::nullopt;
  }
  sweep->shard = *shard;
  return sweep;
}

// The folder with sweep.json in it, which is what makes it a sweep's.
bool make_folder(const std::string& path, const Sweep& sweep, Messages& messages) {
  NewFolder folder(path);
  std::optional<std::string> error = folder.error();
  if (!error) {
    error = write_file(identity_path(path), identity_text(sweep));
  }
  if (error) {
    messages.push_back("--out " + *error);
    return false;
  }
  folder.keep();
  return true;
}

int finish(const std::string& folder, const Sweep& sweep) {
  Messages messages;
  const std::optional<std::string> summary = write_outputs(folder, sweep, messages);
  if (!summary.has_value()) {
    return report(messages);
  }
  return print(*summary + "\nWritten to " + printable(folder) + ".\n");
}

int interrupted(const std::string& folder, std::size_t done, std::size_t all) {
  report({"interrupted: " + format_count(done) + " of " + format_count(all) + " rows are in " +
          folder + "; --resume goes on"});
  return 128 + Interruption::signal();
}

// Runs what is missing of the sweep in its folder.
int run_sweep(const SweepArguments& arguments, const PointSource& source, const Sweep& sweep,
              const StoredLines& stored) {
  const std::vector<std::size_t> tasks = missing_tasks(sweep, stored.lines);
  const std::size_t all = stored.lines.size() + tasks.size();
  StoreWriter store(points_path(arguments.out), stored);
  if (stored.torn_bytes > 0) {
    report({points_path(arguments.out) + ": the last line was not complete; its " +
            format_count(stored.torn_bytes) + " bytes were cut off, and the row is run again"});
  }
  if (!stored.lines.empty()) {
    report({"resuming: " + format_count(stored.lines.size()) + " of " + format_count(all) +
            " rows are there"});
  }
  SweepProgress progress(all, stored.lines.size(), isatty(STDERR_FILENO) != 0);
  std::size_t done = stored.lines.size();
  const Interruption interruption;
  run_tasks(source, sweep, tasks, store,
            {.jobs = arguments.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())),
             .on_progress = [&](std::size_t rows) {
               done = stored.lines.size() + rows;
               progress.show(rows);
             }});
  store.flush();
  progress.clear();
  if (store.error()) {
    return report({*store.error()});
  }
  store.close();
  return done < all ? interrupted(arguments.out, done, all) : finish(arguments.out, sweep);
}

}  // namespace

int sweep_command(const SweepArguments& arguments) {
  Messages messages;
  const std::optional<PointSource> source =
      read_point_source(arguments.scenario, arguments.set, arguments.strategy, messages);
  std::optional<Sweep> sweep;
  StoredLines stored;
  if (source.has_value()) {
    sweep = read_plan(arguments, *source, messages);
  }
  check_folder(arguments.out, arguments.resume ? Use::resume : Use::sweep, messages);
  if (messages.empty()) {
    stored = read_stored(arguments.out, *sweep, messages);
  }
  if (messages.empty() && arguments.resume && is_empty_or_absent(arguments.out)) {
    report({"nothing to resume in " + arguments.out + ": the sweep starts anew"});
  }
  if (messages.empty() && stored.lines.empty()) {
    make_folder(arguments.out, *sweep, messages);
  }
  return messages.empty() ? run_sweep(arguments, *source, *sweep, stored) : report(messages);
}

int merge_command(const MergeArguments& arguments) {
  Messages messages;
  const std::optional<Shards> shards = read_shards(arguments.folders, messages);
  check_folder(arguments.out, Use::merge, messages);
  if (!messages.empty() || !make_folder(arguments.out, shards->whole, messages)) {
    return report(messages);
  }
  if (const auto error = write_in_order(points_path(arguments.out), shards->parts)) {
    return report({*error});
  }
  return finish(arguments.out, shards->whole);
}

}  // namespace shardscope
