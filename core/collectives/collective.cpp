#include "core/collectives/collective.h"

#include <utility>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

bool reduces(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

}  // namespace

Collective::Collective(std::unique_ptr<const Schedule> schedule, ChunkedTensor data,
                       std::optional<LayerRange> layers, MemoryLedger& ledger, Storage storage)
    : schedule_(std::move(schedule)), data_(std::move(data)), layers_(layers) {
  if (schedule_->rounds() == 0) {
    return;
  }
  const std::size_t chunk = data_.chunking().size(0);
  const auto staging = [&] {
    return Buffer(ledger, Category::communication_buckets, data_.dtype(), chunk, storage,
                  Contents::undefined);
  };
  if (!data_.is_contiguous()) {
    send_staging_ = staging();
  }
  if (!data_.is_contiguous() || reduces(schedule_->operation())) {
    receive_staging_ = staging();
  }
}

std::string Collective::name() const {
  const std::string operation(shardscope::name(schedule_->operation()));
  return layers_.has_value() ? operation + " " + shardscope::name(*layers_) : operation;
}

void Collective::run(Transport& transport) {
  SHARDSCOPE_CHECK(transport.world_size() == schedule_->world_size(),
                   "the schedule is for another world size");
  for (int i = 0; i < schedule_->rounds(); ++i) {
    run_round(schedule_->round(transport.rank(), i), transport);
  }
}

void Collective::run_round(const Round& round, Transport& transport) {
  std::unique_ptr<Request> sending;
  if (round.send.has_value()) {
    sending = transport.isend(round.send->peer, outgoing(round.send->chunk));
  }
  if (round.receive.has_value()) {
    transport.recv(round.receive->peer, incoming(round.receive->chunk, round.reduce));
    receive(round.receive->chunk, round.reduce);
  }
  if (sending != nullptr) {
    sending->wait();
  }
}

Tensor Collective::outgoing(int chunk) {
  if (chunk == Transfer::kToken) {
    return {};
  }
  if (data_.is_contiguous()) {
    return data_.chunk(chunk);
  }
  if (staged_chunk_ == chunk) {  // Passed on as it came.
    std::swap(send_staging_, receive_staging_);
  } else {
    data_.pack(chunk, send_staging_.slice(0, data_.chunking().size(chunk)));
  }
  return send_staging_.slice(0, data_.chunking().size(chunk));
}

Tensor Collective::incoming(int chunk, bool reduce) {
  if (chunk == Transfer::kToken) {
    return {};
  }
  if (data_.is_contiguous() && !reduce) {
    return data_.chunk(chunk);
  }
  staged_chunk_.reset();
  return receive_staging_.slice(0, data_.chunking().size(chunk));
}

void Collective::receive(int chunk, bool reduce) {
  if (chunk == Transfer::kToken || (data_.is_contiguous() && !reduce)) {
    return;
  }
  const Tensor staged = receive_staging_.slice(0, data_.chunking().size(chunk));
  if (reduce) {
    add(data_.chunk(chunk), staged);
  } else {
    data_.unpack(chunk, staged);
    staged_chunk_ = chunk;
  }
}

}  // namespace shardscope
