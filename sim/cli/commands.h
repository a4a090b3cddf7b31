// What the program's commands do once their arguments are parsed. Each returns the exit code: 0, 2
// for faults in what the user gave (all of them on standard error, nothing written), 1 if a
// simulation died.
#pragma once

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
  std::optional<std::string> save_weights;
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
  std::optional<std::string> json;
};
int memory_command(const MemoryArguments& arguments);

struct CheckArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
};
int check_command(const CheckArguments& arguments);

/// Writes the commented starter scenario; never over an existing file.
int init_command(const std::string& path);

/// Prints the schema of scenario files.
int schema_command();

}  // namespace shardscope
