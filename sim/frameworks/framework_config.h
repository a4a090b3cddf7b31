// Configuration files of training frameworks, DeepSpeed's and Hugging Face Accelerate's, as what
// they mean for a scenario: a strategy, fields to set, batch sizes, and an account of every key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/overrides.h"
#include "sim/text/fault.h"

namespace shardscope {

/// Where a value comes from: the file, the framework's default, what "auto" stands for, or others
/// from which it follows, as an equation.
enum class Origin { given, by_default, resolved, derived };

/// What a key does here: it is simulated; it changes neither time nor memory; it does, and is left
/// aside; or the framework knows no such key and ignores it.
enum class Effect { modelled, none, not_modelled, unknown };

/// One key of a file, or a default that matters.
struct ConfigItem {
  std::string key;    ///< With the blocks it stands in: "zero_optimization.stage".
  std::string value;  ///< As written or resolved, on one line.
  Origin origin = Origin::given;
  Effect effect = Effect::none;
  std::string meaning;                   ///< What it means here, in a line.
  std::vector<std::string> fields = {};  ///< Of the scenario, that it sets.
};

/// What a file leaves to the program that loads it.
struct ConfigContext {
  /// Data-parallel ranks. 0: those that the file names; without either no batch is worked out.
  int ranks = 0;
  std::optional<std::size_t> hidden_size;  ///< For sizes that are "auto".
  std::optional<std::size_t> micro_batch;  ///< Rows of a rank's micro-step, if that is "auto".
  std::optional<int> zero_stage = {};      ///< Instead of the file's, with that stage's defaults.
};

/// Where the optimizer or the parameters are kept.
enum class Offload { none, cpu };

struct FrameworkConfig {
  std::string strategy;             ///< A preset's name, e.g. DEEPSPEED_STAGE2.
  std::vector<Override> overrides;  ///< Fields of options and training. Faults show file and key.

  /// Rows of an optimizer step over all ranks, rows of a rank's micro-step, and micro-steps.
  /// train_batch = micro_batch x accumulation x ranks; what the file does not determine is missing.
  std::optional<std::uint64_t> train_batch;
  bool gives_train_batch = false;  ///< Rather than leaving it to the others.
  std::optional<std::uint64_t> micro_batch;
  std::optional<std::uint64_t> accumulation;

  /// Accelerate: processes on all machines together, and machines.
  std::optional<int> processes;
  std::optional<int> machines;

  Offload optimizer_offload = Offload::none;
  Offload parameter_offload = Offload::none;

  /// All activations are computed again in backward. DeepSpeed's files cannot ask for it: there the
  /// model's code does.
  bool full_recomputation = false;

  /// Of the fields that it sets, those whose values follow from the precision it asks for.
  std::vector<std::string> fields_of_precision;

  /// Every key of the file in its order, then the defaults that matter.
  std::vector<ConfigItem> items;
};

/// A configuration's text. It may be a pipe's, which can be read once.
struct ConfigFile {
  std::filesystem::path path;
  std::string text;
};

/// Nothing and a fault if it is not readable.
std::optional<ConfigFile> read_config_file(const std::filesystem::path& path,
                                           std::vector<Fault>& faults);

/// DeepSpeed's configuration: JSON with comments and trailing commas. "auto" is what Accelerate and
/// the Hugging Face Trainer put there. Nothing and all faults if the file has a key or a value that
/// DeepSpeed refuses, or asks for what is not simulated and would make memory or traffic wrong.
/// Never throws.
std::optional<FrameworkConfig> read_deepspeed_config(const ConfigFile& config,
                                                     const ConfigContext& context,
                                                     std::vector<Fault>& faults);

/// The same of a configuration of `accelerate launch`, in YAML, and of the DeepSpeed file it may
/// name, whose path is relative to the folder of its own.
std::optional<FrameworkConfig> read_accelerate_config(const ConfigFile& config,
                                                      const ConfigContext& context,
                                                      std::vector<Fault>& faults);

}  // namespace shardscope
