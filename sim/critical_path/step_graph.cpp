#include "sim/critical_path/step_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "sim/result/result.pb.h"
#include "sim/trace/messages.h"

namespace shardscope {
namespace {

using Vertex = StepGraph::Vertex;
using Ranks = std::vector<const RankRecording*>;

// The layers of "all_gather layers.2"; none of "all_reduce norm".
std::string layers_of(const RecordedCollective& collective) {
  const std::size_t layers = collective.name().find("layers.");
  return layers == std::string::npos ? "" : collective.name().substr(layers);
}

class Builder {
 public:
  Builder(const Ranks& ranks, StepGraph& step) : ranks_(ranks), step_(step) {}

  void build() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank]->end_s() > ranks_[step_.last]->end_s()) {
        step_.last = rank;
      }
    }
    step_.begin = add_vertex(step_.graph);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      add_streams(rank);
    }
    add_messages();
  }

 private:
  // Where a transfer operation begins and ends, and the collective it belongs to.
  struct Place {
    Vertex begin;
    Vertex end;
    const RecordedCollective* collective;
  };

  void connect(Vertex from, Vertex to, const Activity& activity = {}) {
    add_edge(from, to, activity, step_.graph);
  }

  void add_streams(std::size_t rank) {
    const RankRecording& recording = *ranks_[rank];
    const double offset_s = recording.begin_s() - ranks_[step_.last]->begin_s();
    const Vertex begin = add_vertex(step_.graph);
    connect(step_.begin, begin,
            {.kind = Activity::Kind::offset,
             .seconds = offset_s,
             .from = static_cast<int>(rank),
             .to = static_cast<int>(rank)});

    // The ends of collectives are made first: the compute stream waits for them.
    std::vector<Vertex> begins;
    std::vector<Vertex> ends;
    for (int i = 0; i < recording.communication_size(); ++i) {
      begins.push_back(add_vertex(step_.graph));
      ends.push_back(add_collective(recording.communication(i), begins.back()));
      if (i > 0) {
        connect(ends[ends.size() - 2], begins.back());
      }
    }
    step_.ends.push_back(add_compute(rank, begin, begins, ends));
  }

  // All ranks begin to save together, and go on together.
  Vertex add_save(Vertex now, const Activity& activity) {
    if (!all_came_.has_value()) {
      all_came_ = add_vertex(step_.graph);
      all_saved_ = add_vertex(step_.graph);
    }
    const Vertex saved = add_vertex(step_.graph);
    connect(now, *all_came_);
    connect(*all_came_, saved, activity);
    connect(saved, *all_saved_);
    return *all_saved_;
  }

  Vertex add_compute(std::size_t rank, Vertex begin, const std::vector<Vertex>& collective_begins,
                     const std::vector<Vertex>& collective_ends) {
    Vertex now = begin;
    for (const ComputeOperation& operation : ranks_[rank]->compute()) {
      if (operation.kind() == ComputeOperation::ENQUEUE) {
        connect(now, collective_begins[static_cast<std::size_t>(operation.collective())]);
        continue;
      }
      if (operation.kind() == ComputeOperation::WAIT) {
        const Vertex next = add_vertex(step_.graph);
        connect(now, next);
        connect(collective_ends[static_cast<std::size_t>(operation.collective())], next);
        now = next;
        continue;
      }
      const Activity activity{.kind = Activity::Kind::kernel,
                              .seconds = operation.end_s() - operation.begin_s(),
                              .launch_s = operation.launch_s(),
                              .phase = operation.phase(),
                              .layers = operation.has_layer()
                                            ? "layers." + std::to_string(operation.layer())
                                            : std::string(),
                              .from = static_cast<int>(rank),
                              .to = static_cast<int>(rank)};
      if (operation.phase() == "checkpoint") {
        now = add_save(now, activity);
      } else {
        const Vertex next = add_vertex(step_.graph);
        connect(now, next, activity);
        now = next;
      }
    }
    return now;
  }

  // A rank's part of it, message for message. Returns its end.
  Vertex add_collective(const RecordedCollective& collective, Vertex begin) {
    Vertex now = begin;
    Vertex before = begin;  // The receives that were begun last.
    for (const TransferOperation& operation : collective.transfers()) {
      switch (operation.kind()) {
        case TransferOperation::SEND:
          places_[&operation] = {now, now, &collective};
          break;
        case TransferOperation::RECEIVE:
          if (!operation.at_once()) {
            before = now;
            now = add_after(before);
          }
          places_[&operation] = {before, now, &collective};
          break;
        case TransferOperation::SENT:
          now = add_after(now);
          waits_for_[&collective.transfers(operation.send())] = now;
          break;
      }
    }
    return now;
  }

  Vertex add_after(Vertex before) {
    const Vertex next = add_vertex(step_.graph);
    connect(before, next);
    return next;
  }

  void add_messages() {
    for (const Message& message : match_messages(ranks_)) {
      const Place& send = places_.at(message.send);
      const Place& receive = places_.at(message.receive);
      const double begin_s = std::max(message.send->begin_s(), message.receive->begin_s());
      const Vertex begin = add_vertex(step_.graph);
      const Vertex left = add_vertex(step_.graph);
      connect(send.begin, begin);
      connect(receive.begin, begin);
      Activity activity{.kind = Activity::Kind::transfer,
                        .seconds = message.receive->left_s() - begin_s,
                        .phase = receive.collective->phase(),
                        .layers = layers_of(*receive.collective),
                        .from = static_cast<int>(message.from),
                        .to = static_cast<int>(message.to)};
      connect(begin, left, activity);
      activity.kind = Activity::Kind::latency;
      activity.seconds = message.receive->end_s() - message.receive->left_s();
      connect(left, receive.end, activity);
      const auto waits = waits_for_.find(message.send);
      if (waits != waits_for_.end()) {
        connect(left, waits->second);
      }
    }
  }

  const Ranks& ranks_;
  StepGraph& step_;
  std::optional<Vertex> all_came_;  // Where a checkpoint is saved: all ranks'.
  std::optional<Vertex> all_saved_;
  std::unordered_map<const TransferOperation*, Place> places_;
  std::unordered_map<const TransferOperation*, Vertex> waits_for_;  // By SEND, the end of its SENT.
};

}  // namespace

StepGraph make_step_graph(const std::vector<const RankRecording*>& ranks) {
  StepGraph step;  // Filled in place: graphs are copied, not moved.
  Builder(ranks, step).build();
  return step;
}

}  // namespace shardscope
