#include "core/collectives/collective.h"

#include <deque>
#include <map>
#include <utility>

#include "core/check.h"

namespace shardscope {

Collective::Collective(std::unique_ptr<const Schedule> schedule, ChunkedTensor data,
                       RankGroup group, int rank, Purpose purpose, std::optional<LayerRange> layers,
                       MemoryLedger& ledger, Storage storage)
    : schedule_(std::move(schedule)),
      data_(std::move(data)),
      group_(group),
      rank_(rank),
      purpose_(purpose),
      layers_(layers) {
  SHARDSCOPE_CHECK(group.size == schedule_->world_size(), "the schedule is for another group");
  if (schedule_->rounds() == 0) {
    return;
  }
  const bool adds = reduces(schedule_->operation());
  SHARDSCOPE_CHECK(data_.is_contiguous() || !adds, "a reduction of several parts");
  if (data_.is_contiguous() && !adds) {
    return;
  }
  const Staging staging = schedule_->staging(rank);
  const auto buffer = [&](std::size_t elements) {
    return Buffer(ledger, Category::communication_buckets, data_.dtype(), elements, storage,
                  Contents::undefined);
  };
  if (!data_.is_contiguous()) {
    send_staging_ = buffer(staging.sent);
  }
  receive_staging_ = buffer(adds ? staging.added : staging.received);
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
  SHARDSCOPE_CHECK(group_.world_rank(rank_) == transport.rank() && rank_ < group_.size,
                   "the rank is not in the group");
  std::vector<std::unique_ptr<Request>> sending;
  for (int i = 0; i < schedule_->rounds(); ++i) {
    begin_round(i);
    for (const Outgoing& send : sends_) {
      sending.push_back(transport.isend(send.peer, send.data));
    }
    if (!receives_.empty()) {
      transport.recv(receives_);
    }
    for (const std::unique_ptr<Request>& request : sending) {
      request->wait();
    }
    sending.clear();
  }
}

// A round sends nothing that it receives: of a round the order of the ranks does not matter.
void Collective::run_together(std::span<Collective* const> ranks) {
  const int rounds = ranks.front()->schedule_->rounds();
  for (int i = 0; i < rounds; ++i) {
    std::map<std::pair<int, int>, std::deque<TensorList>> sent;  // By sender and receiver.
    for (Collective* rank : ranks) {
      rank->begin_round(i);
      for (const Outgoing& send : rank->sends_) {
        sent[{rank->world_rank(), send.peer}].push_back(send.data);
      }
    }
    for (Collective* rank : ranks) {
      for (const Incoming& receive : rank->receives_) {
        std::deque<TensorList>& from = sent[{receive.peer, rank->world_rank()}];
        SHARDSCOPE_CHECK(!from.empty(), "a rank receives what no other sends");
        deliver(from.front(), receive.data, receive.arrival);
        from.pop_front();
      }
    }
  }
}

void Collective::begin_round(int index) {
  schedule_->round(rank_, index, round_);
  find_pieces();
  // Now the pieces stay where they are.
  sends_.clear();
  receives_.clear();
  const Tensor* piece = pieces_.data();
  auto size = sizes_.begin();
  const auto next = [&] {
    const TensorList message = {piece, *size};
    piece += *size++;
    return message;
  };
  for (const Transfer& send : round_.sends()) {
    sends_.push_back({.peer = group_.world_rank(send.peer), .data = next()});
  }
  for (const Transfer& receive : round_.receives()) {
    receives_.push_back(
        {.peer = group_.world_rank(receive.peer), .data = next(), .arrival = receive.arrival});
  }
}

// Of the round: the memory of what is sent, then of what is received.
void Collective::find_pieces() {
  pieces_.clear();
  sizes_.clear();
  for (const auto transfers : {round_.sends(), round_.receives()}) {
    for (const Transfer& transfer : transfers) {
      const std::size_t before = pieces_.size();
      for (const Range& range : round_.ranges(transfer)) {
        data_.append(range, pieces_);
      }
      sizes_.push_back(pieces_.size() - before);
    }
  }
}

}  // namespace shardscope
