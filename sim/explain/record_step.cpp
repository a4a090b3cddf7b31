#include "sim/explain/record_step.h"

#include "core/training/trainer.h"
#include "sim/explain/recorder.h"

namespace shardscope {

std::vector<StepLog> record_step(const Scenario& scenario, const Strategy& strategy,
                                 const Sources& sources, std::int64_t step,
                                 const CollectivePlanner& planner) {
  std::vector<StepLog> logs(static_cast<std::size_t>(scenario.world_size));
  run_local_cluster(scenario.world_size, [&](LocalRank rank) {
    RecordingDevice device(rank);
    ProcessGroup group(device, rank.transport.rank(), scenario.world_size, Storage::real, planner);
    Trainer trainer(strategy, scenario.model, scenario.training, group, sources.batches.get());
    trainer.initialize(*sources.weights);
    for (std::int64_t t = 1; t < step; ++t) {
      trainer.step();
    }
    device.begin(trainer);
    const StepDiagnostics diagnostics = trainer.step();
    logs[static_cast<std::size_t>(rank.transport.rank())] = device.finish(diagnostics);
  });
  return logs;
}

}  // namespace shardscope
