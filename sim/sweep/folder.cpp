#include "sim/sweep/folder.h"

#include <json/json.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "sim/files/atomic_file.h"
#include "sim/files/new_folder.h"
#include "sim/html/html_report.h"
#include "sim/report/format.h"
#include "sim/sweep/csv.h"
#include "sim/sweep/data.h"
#include "sim/sweep/findings.h"
#include "sim/sweep/grid.h"
#include "sim/sweep/identity.h"
#include "sim/sweep/summary.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

std::string in(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

std::optional<std::string> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Why a folder that is not empty is no sweep's.
std::string why_no_sweep(const std::string& folder) {
  const std::vector<std::string> names = entries_of(folder);
  std::error_code ignored;
  if (std::all_of(names.begin(), names.end(), is_temporary_name)) {
    return "another sweep is just starting there; if none is, " + listed(names) +
           " was left by one that was killed and may be deleted";
  }
  if (fs::exists(points_path(folder), ignored)) {
    return "its sweep.json is missing, which says to which sweep its points.jsonl belongs; bring "
           "it back, or take another folder";
  }
  return "holds other files (" + names.front() + ") and no sweep.json; a new or an empty folder";
}

bool write_text(const std::string& path, const std::string& text,
                std::vector<std::string>& problems) {
  if (const auto error = write_file(path, text)) {
    problems.push_back(*error);
    return false;
  }
  return true;
}

bool write_csv(const std::string& path, const Sweep& sweep, const std::vector<Row>& rows,
               std::vector<std::string>& problems) {
  AtomicFile file(path);
  write_csv_header(sweep, file);
  for (std::size_t task = 0; task < rows.size(); ++task) {
    if (rows[task].outcome != Outcome::missing) {
      write_csv_row(sweep, task, rows[task], file);
    }
  }
  if (file.commit()) {
    problems.push_back(*file.error());
    return false;
  }
  return true;
}

}  // namespace

std::string identity_path(const std::string& folder) { return in(folder, "sweep.json"); }
std::string points_path(const std::string& folder) { return in(folder, "points.jsonl"); }

bool is_empty_or_absent(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  return status.type() == fs::file_type::not_found ||
         (fs::is_directory(status) && fs::is_empty(folder, error));
}

void check_folder(const std::string& folder, Use use, std::vector<std::string>& problems) {
  std::error_code ignored;
  if (const auto reason = why_no_folder(folder)) {
    problems.push_back("--out " + *reason);
  } else if (is_empty_or_absent(folder)) {
    return;
  } else if (!fs::exists(identity_path(folder), ignored)) {
    problems.push_back("--out " + folder + ": " + why_no_sweep(folder));
  } else if (use != Use::resume) {
    problems.push_back("--out " + folder + ": holds a sweep already; another folder" +
                       (use == Use::sweep ? ", or --resume to go on with it" : ""));
  }
}

StoredLines read_stored(const std::string& folder, const Sweep& sweep,
                        std::vector<std::string>& problems) {
  const std::size_t before = problems.size();
  std::error_code ignored;
  if (!fs::exists(identity_path(folder), ignored)) {
    return {};
  }
  const std::optional<Sweep> there = read_folder(folder, problems);
  if (!there.has_value()) {
    return {};
  }
  for (const std::string& difference : differences(*there, sweep)) {
    problems.push_back("--out " + folder + ": holds another sweep: " + difference);
  }
  if (there->shard.index != sweep.shard.index || there->shard.count != sweep.shard.count) {
    problems.push_back("--out " + folder + ": holds " + shard_words(there->shard) + ", not " +
                       shard_words(sweep.shard));
  }
  return problems.size() == before ? read_store(points_path(folder), sweep, nullptr, problems)
                                   : StoredLines{};
}

std::optional<Sweep> read_folder(const std::string& folder, std::vector<std::string>& problems) {
  const std::string path = identity_path(folder);
  const std::optional<std::string> text = read_whole(path);
  if (!text.has_value()) {
    problems.push_back(folder + ": holds no sweep: there is no sweep.json that can be read");
    return std::nullopt;
  }
  std::string problem;
  std::optional<Sweep> sweep = parse_identity(*text, problem);
  if (!sweep.has_value()) {
    problems.push_back(path + ": " + problem);
  }
  return sweep;
}

std::vector<std::size_t> missing_tasks(const Sweep& sweep, const std::vector<LinePlace>& lines) {
  std::vector<bool> is_there(sweep.task_count(), false);
  for (const LinePlace& line : lines) {
    is_there[line.task] = true;
  }
  std::vector<std::size_t> missing;
  for (const std::size_t point : points_of_shard(sweep)) {
    for (std::size_t s = 0; s < sweep.strategies.size(); ++s) {
      const std::size_t task = point * sweep.strategies.size() + s;
      if (!is_there[task]) {
        missing.push_back(task);
      }
    }
  }
  return missing;
}

std::optional<std::string> write_outputs(const std::string& folder, const Sweep& sweep,
                                         std::vector<std::string>& problems) {
  const std::string points = points_path(folder);
  std::vector<Row> rows(sweep.task_count());
  const StoredLines stored = read_store(
      points, sweep, [&](std::size_t task, const Row& row) { rows[task] = row; }, problems);
  if (!problems.empty()) {
    return std::nullopt;
  }
  if (!is_in_order(stored.lines)) {
    if (const auto error = write_in_order(points, {{points, stored.lines}})) {
      problems.push_back(*error);
      return std::nullopt;
    }
  }
  const Grid grid(sweep, rows);
  const bool is_whole = sweep.shard.count == 1;
  const std::vector<Finding> findings = is_whole ? find_all(grid) : std::vector<Finding>{};
  std::string summary = sweep_summary(grid, findings);
  const bool written =
      write_csv(in(folder, "points.csv"), sweep, rows, problems) &&
      (!is_whole ||
       write_text(in(folder, "findings.json"), findings_json(sweep, findings), problems)) &&
      (!is_whole ||
       write_text(in(folder, "report.html"), html_report(page_data(grid, findings)), problems)) &&
      write_text(in(folder, "summary.txt"), summary, problems);
  return written ? std::optional(std::move(summary)) : std::nullopt;
}

}  // namespace shardscope
