// The built program, run as a user runs it.
#pragma once

#include <json/json.h>
#include <sys/resource.h>

#include <string>
#include <vector>

namespace shardscope::testing {

struct Outcome {
  int exit_code = 0;  ///< 128 + the signal that killed it, as in a shell.
  std::string out;
  std::string err;
};

struct ProgramOptions {
  std::string program = SHARDSCOPE_PROGRAM;
  std::string folder = "/";   ///< The current directory.
  std::string stdout_path{};  ///< Instead of Outcome.out.
  rlim_t address_space_bytes = RLIM_INFINITY;
  rlim_t file_bytes = RLIM_INFINITY;  ///< Of each file that it writes.
};

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

/// Fails the test if the text is not JSON.
Json::Value parse_json(const std::string& text);

/// The report of `run SCENARIO --json - ARGUMENT...`, which must succeed.
Json::Value run_json(const std::string& scenario, const std::vector<std::string>& arguments = {});

/// Of a shipped scenario, "quickstart".
std::string shipped(const std::string& name);

/// A scenario that trains in an instant: layers [6, 10, 4], 3 steps of 8 rows, bf16, 4 ranks.
extern const std::string kSmallScenario;

}  // namespace shardscope::testing
