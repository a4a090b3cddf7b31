// A device and a transport that pass everything on and write down what they see of one step.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/device/local_cluster.h"
#include "core/training/trainer.h"
#include "sim/explain/step_log.h"

namespace shardscope {

class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int world_size() const override { return inner_.world_size(); }
  std::unique_ptr<Request> isend(int peer, TensorList data) override;
  using Transport::recv;
  void recv(std::span<const Incoming> messages) override { inner_.recv(messages); }

  std::uint64_t sent_bytes() const { return sent_bytes_; }

  /// The values of the messages since the last call.
  std::vector<std::vector<float>> take_sent();

 private:
  Transport& inner_;
  std::uint64_t sent_bytes_ = 0;
  std::vector<std::vector<float>> sent_;
};

/// Runs collectives when they are enqueued, so that their numbers are there before anyone waits;
/// their staging lives until they are waited for.
class RecordingDevice final : public Device {
 public:
  explicit RecordingDevice(LocalRank rank) : inner_(rank.device), transport_(rank.transport) {}

  MemoryLedger& memory() override { return inner_.memory(); }
  void compute(std::string_view kernel, Cost cost) override;
  void on_host(std::string_view kernel, HostWork work) override { inner_.on_host(kernel, work); }
  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override;

  /// Begins to write: the next step of the trainer, which must live until `finish`.
  void begin(const Trainer& trainer);

  /// The step is over.
  StepLog finish(const StepDiagnostics& diagnostics);

 private:
  class DoneWork;

  void mark_update();
  Moment& add_moment();

  Device& inner_;
  RecordingTransport transport_;
  const Trainer* trainer_ = nullptr;  // While recording.
  std::uint64_t sent_before_ = 0;
  std::uint64_t control_bytes_ = 0;  // Sent for norms and flags of overflow.
  std::size_t collectives_ = 0;      // Of the step.
  StepLog log_;
};

}  // namespace shardscope
