#include "core/collectives/collective.h"

#include <utility>

#include "core/check.h"

namespace shardscope {
namespace {

bool reduces(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

}  // namespace

Collective::Collective(std::unique_ptr<const Schedule> schedule, ChunkedTensor data,
                       RankGroup group, Purpose purpose, std::optional<LayerRange> layers,
                       MemoryLedger& ledger, Storage storage)
    : schedule_(std::move(schedule)),
      data_(std::move(data)),
      group_(group),
      purpose_(purpose),
      layers_(layers) {
  SHARDSCOPE_CHECK(group.size == schedule_->world_size(), "the schedule is for another group");
  if (schedule_->rounds() == 0) {
    return;
  }
  SHARDSCOPE_CHECK(data_.is_contiguous() || !reduces(schedule_->operation()),
                   "a reduction of several parts");
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
  switch (purpose_) {
    case Purpose::norm:
      return operation + " norm";
    case Purpose::overflow:
      return operation + " overflow";
    case Purpose::data:
      break;
  }
  return layers_.has_value() ? operation + " " + shardscope::name(*layers_) : operation;
}

void Collective::run(Transport& transport) {
  const int rank = group_.group_rank(transport.rank());
  SHARDSCOPE_CHECK(group_.world_rank(rank) == transport.rank() && rank < group_.size,
                   "the rank is not in the group");
  for (int i = 0; i < schedule_->rounds(); ++i) {
    run_round(schedule_->round(rank, i), transport);
  }
}

void Collective::run_round(const Round& round, Transport& transport) {
  std::unique_ptr<Request> sending;
  if (round.send.has_value()) {
    sending = transport.isend(group_.world_rank(round.send->peer), outgoing(round.send->chunk));
  }
  if (round.receive.has_value()) {
    transport.recv(group_.world_rank(round.receive->peer), incoming(round.receive->chunk),
                   round.reduce ? Arrival::is_added : Arrival::replaces);
    received(round.receive->chunk);
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

Tensor Collective::incoming(int chunk) {
  if (chunk == Transfer::kToken) {
    return {};
  }
  if (data_.is_contiguous()) {
    return data_.chunk(chunk);
  }
  staged_chunk_.reset();
  return receive_staging_.slice(0, data_.chunking().size(chunk));
}

void Collective::received(int chunk) {
  if (chunk != Transfer::kToken && !data_.is_contiguous()) {
    data_.unpack(chunk, receive_staging_.slice(0, data_.chunking().size(chunk)));
    staged_chunk_ = chunk;
  }
}

}  // namespace shardscope
