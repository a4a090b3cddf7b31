#include "sim/checkpoint/inspect.h"

#include <array>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "sim/files/safetensors.h"
#include "sim/report/format.h"
#include "sim/report/table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// Of more rows the first and the last are shown.
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kShownAtEnd = 4;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

std::string widths(const ModelSpec& model) {
  std::string text;
  for (const std::size_t width : model.widths) {
    text += (text.empty() ? "" : "-") + std::to_string(width);
  }
  return text;
}

std::string optimizer_text(const AdamOptions& adam) {
  return std::string(name(adam.variant)) + ", learning rate " + number(adam.learning_rate) +
         ", betas " + number(adam.beta1) + " and " + number(adam.beta2) + ", epsilon " +
         number(adam.epsilon) + ", weight decay " + number(adam.weight_decay);
}

std::string progress_text(const TrainingProgress& progress) {
  return plural(static_cast<std::uint64_t>(progress.steps), "step") + ", " +
         plural(static_cast<std::uint64_t>(progress.updates), "update") +
         "; the next batch is number " + std::to_string(progress.steps) + ", counted from 0";
}

std::string loss_scale_text(const LossScaleState& scale) {
  return number(scale.scale) + ", " +
         plural(static_cast<std::uint64_t>(scale.good_steps), "good step") + ", hysteresis " +
         std::to_string(scale.hysteresis);
}

std::uint64_t elements_of(const CheckpointFile& file) {
  std::uint64_t elements = 0;
  for (const TensorRange& range : file.ranges) {
    elements += range.end - range.begin;
  }
  return elements;
}

/// A line of the list of facts, wrapped behind its label.
std::string fact(const std::string& label, const std::string& value) {
  constexpr std::size_t kLabelWidth = 12;
  const std::string first = "  " + label + std::string(kLabelWidth - label.size(), ' ');
  return wrapped(printable(value), kReportWidth, first, first.size());
}

std::string facts(const CheckpointSource& source) {
  const CheckpointManifest& manifest = source.manifest();
  const CheckpointRun& run = manifest.run;
  return fact("folder", source.folder()) + fact("scenario", run.scenario) +
         fact("model", widths(run.model) + ", " + std::string(name(run.model.activation)) + ", " +
                           std::string(name(run.model.loss)) + ": " +
                           plural(run.model.parameters(), "parameter")) +
         fact("precision",
              std::string(name(run.precision)) + "; weights and moments are saved in fp32") +
         fact("optimizer", optimizer_text(run.optimizer)) +
         fact("progress", progress_text(manifest.progress)) +
         fact("loss scale", loss_scale_text(manifest.progress.loss_scale)) +
         fact("written by", run.program) +
         fact("files", plural(source.file_count(), "rank file") + ", " +
                           format_count(source.bytes()) + " B, all checksums right");
}

/// Rows of which the middle is left out if they are many.
void add_rows(Table& table, const std::vector<std::vector<std::string>>& rows,
              const std::string& of_what) {
  const std::size_t shown = rows.size() <= kMostRows ? rows.size() : kMostRows - kShownAtEnd;
  for (std::size_t i = 0; i < shown; ++i) {
    table.add_row(rows[i]);
  }
  if (shown < rows.size()) {
    std::vector<std::string> gap(rows.front().size());
    gap.front() = "(" + plural(rows.size() - kMostRows, "more " + of_what) + ")";
    table.add_row(std::move(gap));
    for (std::size_t i = rows.size() - kShownAtEnd; i < rows.size(); ++i) {
      table.add_row(rows[i]);
    }
  }
}

/// The ranks that hold something, and in words those that do not.
std::string ranks_table(const CheckpointManifest& manifest) {
  const auto parameters = static_cast<double>(manifest.run.model.parameters());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
    const CheckpointFile& file = manifest.files[rank];
    if (file.name.empty()) {
      continue;
    }
    const std::uint64_t elements = elements_of(file);
    rows.push_back({std::to_string(rank), format_count(elements),
                    format_percent(static_cast<double>(elements) / parameters),
                    format_count(file.ranges.size()), format_count(file.bytes), file.name});
  }
  const std::size_t empty = manifest.files.size() - rows.size();
  Table table;
  table.add_column("rank", Align::left);
  table.add_column("elements", Align::right);
  table.add_column("share", Align::right);
  table.add_column("pieces", Align::right);
  table.add_column("bytes", Align::right);
  table.add_column("file", Align::left);
  add_rows(table, rows, "rank");
  return table.text() +
         (empty == 0 ? "" : "  " + plural(empty, "other rank") + " saved nothing.\n");
}

/// "0", "0 to 3", "0, 2 and 5"; of many that do not follow one another, how many.
std::string ranks_text(const std::set<std::size_t>& ranks) {
  constexpr std::size_t kMostListed = 4;
  const std::size_t first = *ranks.begin();
  const std::size_t last = *ranks.rbegin();
  if (ranks.size() > 2 && last - first + 1 == ranks.size()) {
    return std::to_string(first) + " to " + std::to_string(last);
  }
  if (ranks.size() > kMostListed) {
    return format_count(ranks.size()) + " from " + std::to_string(first) + " to " +
           std::to_string(last);
  }
  std::vector<std::string> words;
  for (const std::size_t rank : ranks) {
    words.push_back(std::to_string(rank));
  }
  return listed(words);
}

std::string tensors_table(const CheckpointManifest& manifest) {
  const std::vector<ModelTensor> tensors = model_tensors(manifest.run.model);
  std::vector<std::set<std::size_t>> holders(tensors.size());
  std::vector<std::size_t> pieces(tensors.size(), 0);
  for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
    for (const TensorRange& range : manifest.files[rank].ranges) {
      holders[range.tensor].insert(rank);
      ++pieces[range.tensor];
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    rows.push_back({tensors[i].name, shape_text(tensors[i].shape), format_count(tensors[i].count),
                    format_count(pieces[i]), ranks_text(holders[i])});
  }
  Table table;
  table.add_column("tensor", Align::left);
  table.add_column("shape", Align::left);
  table.add_column("elements", Align::right);
  table.add_column("pieces", Align::right);
  table.add_column("on ranks", Align::left);
  add_rows(table, rows, "tensor");
  return table.text();
}

}  // namespace

std::string checkpoint_words(const CheckpointManifest& manifest) {
  return "step " + std::to_string(manifest.progress.steps) + " of " + manifest.run.strategy +
         " on " + plural(static_cast<std::uint64_t>(manifest.run.world_size), "rank");
}

std::string checkpoint_text(const CheckpointSource& source) {
  const CheckpointManifest& manifest = source.manifest();
  return "Checkpoint: " + checkpoint_words(manifest) + "\n" + facts(source) +
         "\nWhat each rank saved, in its file the weights and both moments\n" +
         ranks_table(manifest) + "\nWhere each tensor is\n" + tensors_table(manifest);
}

}  // namespace shardscope
