// A recorded step as a directed acyclic graph: vertices are instants on the ranks' streams, edges
// are what has to pass between two of them. The longest path from the begin of the step to its end
// is the critical path.
//
//   compute       a kernel takes its time; a wait ends with its collective
//   communication a collective begins when it was enqueued and the one before it is done
//   checkpoint    begins when all ranks have come, and ends when all have saved
//   message       begins when it is offered and expected, takes its transfer, then its latency;
//                 receives that were begun at once end together
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <string>
#include <vector>

namespace shardscope {

class RankRecording;

struct Activity {
  /// offset: the begin of a rank's step after that of the rank which finishes last. order: takes no
  /// time.
  enum class Kind { order, offset, kernel, transfer, latency };

  Kind kind = Kind::order;
  double seconds = 0;
  double launch_s = 0;      ///< kernel: the part that a faster device does not shorten.
  std::string phase = {};   ///< Of the compute stream.
  std::string layers = {};  ///< "layers.2", "layers.0-2"; empty where none is concerned.
  int from = 0;             ///< transfer, latency: the ranks of the message. Else the rank.
  int to = 0;
};

struct StepGraph {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
                                      boost::no_property, Activity>;
  using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

  Graph graph;
  Vertex begin{};            ///< Of the step on rank `last`.
  std::vector<Vertex> ends;  ///< By rank.
  std::size_t last = 0;      ///< The rank that finishes last, the lowest one on a tie.
};

/// Of the recordings of all ranks, rank 0 first, none of whose transfers were cut.
StepGraph make_step_graph(const std::vector<const RankRecording*>& ranks);

}  // namespace shardscope
