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
                       MemoryLedger& ledger, Storage storage)
    : schedule_(std::move(schedule)), data_(std::move(data)) {
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

void Collective::run(Transport& transport) {
  SHARDSCOPE_CHECK(transport.world_size() == schedule_->world_size(),
                   "the schedule is for another world size");
  for (int i = 0; i < schedule_->rounds(); ++i) {
    run_round(schedule_->round(transport.rank(), i), transport);
  }
}

void Collective::run_round(const Round& round, Transport& transport) {
  const Tensor sent = round.send.has_value() ? outgoing(round.send->chunk) : Tensor{};
  std::unique_ptr<Request> receiving;
  std::unique_ptr<Request> sending;
  if (round.receive.has_value()) {
    receiving = transport.irecv(round.receive->peer, incoming(round.receive->chunk, round.reduce));
  }
  if (round.send.has_value()) {
    sending = transport.isend(round.send->peer, sent);
  }
  if (receiving != nullptr) {
    receiving->wait();
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
