#include "tests/e2e/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

// In the child, between fork and exec. Whatever fails is exit code 127, as in a shell.
[[noreturn]] void become(std::vector<char*>& argv, const ProgramOptions& options,
                         const std::string& out, const std::string& err) {
  const auto redirect = [](const std::string& path, int descriptor) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    return file >= 0 && dup2(file, descriptor) == descriptor;
  };
  const auto limit = [](auto resource, rlim_t most) {
    const rlimit limits = {most, most};
    return most == RLIM_INFINITY || setrlimit(resource, &limits) == 0;
  };
  if (redirect(out, STDOUT_FILENO) && redirect(err, STDERR_FILENO) &&
      chdir(options.folder.c_str()) == 0 && limit(RLIMIT_AS, options.address_space_bytes) &&
      limit(RLIMIT_FSIZE, options.file_bytes)) {
    execv(argv.front(), argv.data());
  }
  _exit(127);
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {options.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const bool kept = options.stdout_path.empty();
  const std::string out = kept ? folder.path("out") : options.stdout_path;
  const pid_t child = fork();
  if (child == 0) {
    become(argv, options, out, folder.path("err"));
  }
  EXPECT_GT(child, 0) << "no process";
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          .out = kept ? folder.read("out") : "",
          .err = folder.read("err")};
}

Json::Value parse_json(const std::string& text) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value value;
  std::string errors;
  EXPECT_TRUE(reader->parse(text.data(), text.data() + text.size(), &value, &errors))
      << errors << text.substr(0, 1000);
  return value;
}

Json::Value run_json(const std::string& scenario, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"run", scenario, "--json", "-"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return parse_json(outcome.out);
}

std::string shipped(const std::string& name) {
  return SHARDSCOPE_SOURCE_DIR "/scenarios/" + name + ".textproto";
}

const std::string kSmallScenario = R"(name: "small"
model { layers: [6, 10, 4] }
training {
  steps: 3
  global_batch: 8
  precision: BF16
}
cluster {
  world_size: 4
  device { preset: "classroom" }
  link { bandwidth: "10Gbps" latency: "5us" }
}
)";

}  // namespace shardscope::testing
