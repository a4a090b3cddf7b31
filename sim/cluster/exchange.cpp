#include "sim/cluster/exchange.h"

#include <algorithm>
#include <simgrid/simix.hpp>
#include <utility>

#include "core/check.h"
#include "sim/result/result.pb.h"

namespace shardscope {

namespace {

TransferOperation& add(RecordedCollective& recorded, TransferOperation::Kind kind, double begin_s,
                       double end_s) {
  TransferOperation& operation = *recorded.add_transfers();
  operation.set_kind(kind);
  operation.set_begin_s(begin_s);
  operation.set_end_s(end_s);
  return operation;
}

// Its sends are offered, then everything is received, then each send is waited for.
void record(const MessageBatch& round, RecordedCollective& recorded) {
  const double begun_s = round.begun_s();
  const int first = recorded.transfers_size();
  for (std::size_t i = 0; i < round.sends(); ++i) {
    const MessageBatch::Sent sent = round.sent(i);
    TransferOperation& operation = add(recorded, TransferOperation::SEND, begun_s, begun_s);
    operation.set_peer(sent.peer);
    operation.set_bytes(sent.bytes);
  }
  double end_s = begun_s;
  for (std::size_t i = 0; i < round.receives(); ++i) {
    const MessageBatch::Received received = round.received(i);
    TransferOperation& operation =
        add(recorded, TransferOperation::RECEIVE, begun_s, received.arrived_s);
    operation.set_peer(received.peer);
    operation.set_bytes(received.bytes);
    operation.set_left_s(received.left_s);
    if (round.receives() > 1) {
      operation.set_at_once(i > 0);
    }
    end_s = std::max(end_s, received.arrived_s);
  }
  for (std::size_t i = 0; i < round.sends(); ++i) {
    const double begin_s = end_s;
    end_s = std::max(end_s, round.sent(i).left_s);
    add(recorded, TransferOperation::SENT, begin_s, end_s).set_send(first + static_cast<int>(i));
  }
}

}  // namespace

// A rank on its way through the rounds of a schedule.
class Exchange::Rounds final : public MessageBatch {
 public:
  Rounds(Messages& messages, int rank) : messages_(messages), rank_(rank) {}

  void begin(Collective& collective, RankTraffic& traffic, RecordedCollective* recorded,
             std::function<void()> over) {
    SHARDSCOPE_CHECK(collective_ == nullptr, "a rank in two collectives");
    SHARDSCOPE_CHECK(collective.world_rank() == rank_, "another rank's collective");
    collective_ = &collective;
    traffic_ = &traffic;
    recorded_ = recorded;
    over_ = std::move(over);
    round_ = 0;
    begin_round();
  }

 private:
  void over() override {
    if (recorded_ != nullptr) {
      record(*this, *recorded_);
    }
    traffic_->received(collective_->purpose(), received_bytes());
    begin_round();
  }

  // The next one with messages, if there is any.
  void begin_round() {
    while (round_ < collective_->schedule().rounds()) {
      collective_->begin_round(round_++);
      if (collective_->sends().empty() && collective_->receives().empty()) {
        continue;
      }
      for (const Outgoing& send : collective_->sends()) {
        traffic_->sent(collective_->purpose(), send.peer, bytes_of(send.data));
      }
      messages_.begin(rank_, collective_->sends(), collective_->receives(), *this);
      return;
    }
    collective_ = nullptr;
    const std::function<void()> over = std::move(over_);
    over();  // Another one may begin.
  }

  Messages& messages_;
  int rank_;
  Collective* collective_ = nullptr;  // Under way.
  RankTraffic* traffic_ = nullptr;
  RecordedCollective* recorded_ = nullptr;
  std::function<void()> over_;
  int round_ = 0;  // The next.
};

Exchange::Exchange(const Platform& platform, const ClusterPlanner& planner)
    : planner_(planner),
      events_(platform.has_steady_links()),
      messages_(platform, events_),
      flows_(platform, events_) {
  for (int rank = 0; rank < platform.world_size(); ++rank) {
    rounds_.push_back(std::make_unique<Rounds>(messages_, rank));
  }
}

Exchange::~Exchange() = default;

bool Exchange::as_flows(const Collective& collective) const {
  return collective.schedule().stages() > 0 && planner_.as_flows(collective);
}

void Exchange::begin(Collective& collective, RankTraffic& traffic, RecordedCollective* recorded,
                     std::function<void()> over) {
  const bool flows = as_flows(collective);
  simgrid::kernel::actor::simcall_answered([&] {
    if (flows) {
      flows_.join(collective, traffic, std::move(over));
    } else {
      rounds_[static_cast<std::size_t>(traffic.rank())]->begin(collective, traffic, recorded,
                                                               std::move(over));
    }
  });
}

}  // namespace shardscope
