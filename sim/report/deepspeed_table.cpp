#include "sim/report/deepspeed_table.h"

#include <json/json.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/training/deepspeed_estimates.h"
#include "sim/report/format.h"
#include "sim/report/table.h"

namespace shardscope {
namespace {

constexpr double kGibibyte = 1073741824;

std::string setup_text(EstimatedSetup setup) {
  return "stage " + std::to_string(setup.stage) +
         (setup.optimizer_on_host ? ", optimizer on the CPU" : "");
}

std::string formula_text(EstimatedSetup setup) {
  if (setup.stage == 2) {
    return setup.optimizer_on_host ? "2 P" : "2 P + 18 P/N";
  }
  return setup.optimizer_on_host ? "4 E + 2 P/N" : "4 E + 18 P/N";
}

/// A part of what training holds and some estimates leave out.
struct LeftOut {
  const char* by;
  bool (*is_left_out)(EstimatedSetup);
  const char* term;
};

/// Sizes are those of DeepSpeed's default configuration, in a half type.
constexpr std::array<LeftOut, 7> kLeftOut = {{
    {"all", [](EstimatedSetup) { return true; }, "activations and inputs"},
    {"all", [](EstimatedSetup) { return true; },
     "the padding of shards, and what the allocator caches"},
    {"stage 2", [](EstimatedSetup s) { return s.stage == 2; },
     "buffers of reductions (reduce_bucket_size, 5e8 elements: 1 GB, 2 GB with overlap_comm), the "
     "copy that is reduced, and buffers of the all_gather"},
    {"stage 3", [](EstimatedSetup s) { return s.stage == 3; },
     "gathered parameters beyond one layer: kept for their next use "
     "(stage3_max_reuse_distance, 1e9: 2 GB), prefetched (stage3_prefetch_bucket_size, 5e7: "
     "0.1 GB), and small ones that are whole on every rank"},
    {"stage 3", [](EstimatedSetup s) { return s.stage == 3; },
     "the buffer of reductions (reduce_bucket_size, 5e8 elements: 1 GB)"},
    {"stage 3, optimizer on the device",
     [](EstimatedSetup s) { return s.stage == 3 && !s.optimizer_on_host; },
     "16-bit gradients of the shard, 2 P/N"},
    {"optimizer on the CPU", [](EstimatedSetup s) { return s.optimizer_on_host; },
     "gradients on their way to the host (stage 3: beyond one layer's)"},
}};

std::string gibibytes(std::uint64_t bytes) {
  return significant(static_cast<double>(bytes) / kGibibyte, 15, 2);
}

std::uint64_t states(const char* strategy, std::uint64_t parameters, int world_size,
                     DType precision, const StateBytesFormula& formula) {
  const CategoryBytes bytes = formula(*find_strategy(strategy), parameters, world_size, precision);
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::string formulas(std::uint64_t largest_layer) {
  std::string text = wrapped(
      "DeepSpeed's estimators (estimate_zero2_ and estimate_zero3_model_states_mem_needs) "
      "for the same, E parameters in the largest layer, " +
          format_count(largest_layer) + " (1 GiB = 2^30 B):",
      kReportWidth);
  Table table;
  table.add_column("", Align::left);
  table.add_column("", Align::left);
  for (const EstimatedSetup setup : kEstimatedSetups) {
    table.add_row({setup_text(setup), formula_text(setup)});
  }
  return text + table.text();
}

std::string estimates_for(std::uint64_t parameters, const MemoryRequest& request,
                          const StateBytesFormula& formula) {
  constexpr std::array<const char*, 2> kCompared = {"ZERO2", "ZERO3"};
  Table table;
  table.add_column("ranks", Align::right);
  for (const EstimatedSetup setup : kEstimatedSetups) {
    table.add_column("stage " + std::to_string(setup.stage) +
                         (setup.optimizer_on_host ? ",\noptimizer\non the CPU" : ""),
                     Align::right);
  }
  for (const char* strategy : kCompared) {
    table.add_column(std::string("states of\n") + strategy, Align::right);
  }
  for (const int world_size : request.world_sizes) {
    std::vector<std::string> row = {format_count(static_cast<std::uint64_t>(world_size))};
    for (const EstimatedSetup setup : kEstimatedSetups) {
      row.push_back(gibibytes(
          deepspeed_estimate_bytes(setup, parameters, *request.largest_layer, world_size)));
    }
    for (const char* strategy : kCompared) {
      row.push_back(
          gibibytes(states(strategy, parameters, world_size, request.precision, formula)));
    }
    table.add_row(std::move(row));
  }
  return wrapped(format_count(parameters) + " parameters, GiB", kReportWidth) + table.text();
}

std::string all_left_out() {
  std::string text = wrapped(
      "What they leave out, sizes by DeepSpeed's defaults. 18 P/N counts an fp32 copy of "
      "the shard's gradients, 4 P/N, which lives during the update alone.",
      kReportWidth);
  for (const LeftOut& left_out : kLeftOut) {
    text += wrapped(left_out.term, kReportWidth, std::string("  ") + left_out.by + ": ", 4);
  }
  return text;
}

Json::Value setup_json(EstimatedSetup setup) {
  Json::Value value;
  value["stage"] = setup.stage;
  value["optimizer_offload"] = setup.optimizer_on_host ? "CPU" : "NONE";
  return value;
}

}  // namespace

std::string deepspeed_estimates_text(const MemoryRequest& request,
                                     const StateBytesFormula& formula) {
  std::string text = formulas(*request.largest_layer);
  for (const std::uint64_t parameters : request.parameters) {
    text += "\n" + estimates_for(parameters, request, formula);
  }
  return text + "\n" + all_left_out();
}

Json::Value deepspeed_estimates_json(const MemoryRequest& request) {
  Json::Value root;
  root["largest_layer"] = Json::UInt64{*request.largest_layer};
  root["rows"] = Json::Value(Json::arrayValue);
  for (const std::uint64_t parameters : request.parameters) {
    for (const int world_size : request.world_sizes) {
      for (const EstimatedSetup setup : kEstimatedSetups) {
        Json::Value row = setup_json(setup);
        row["parameters"] = Json::UInt64{parameters};
        row["world_size"] = world_size;
        row["total_bytes"] = Json::UInt64{
            deepspeed_estimate_bytes(setup, parameters, *request.largest_layer, world_size)};
        root["rows"].append(std::move(row));
      }
    }
  }
  for (const EstimatedSetup setup : kEstimatedSetups) {
    Json::Value value = setup_json(setup);
    for (const LeftOut& left_out : kLeftOut) {
      if (left_out.is_left_out(setup)) {
        value["terms"].append(left_out.term);
      }
    }
    root["leaves_out"].append(std::move(value));
  }
  return root;
}

}  // namespace shardscope
