// Reads what is uneven in a scenario's cluster: cluster.rank_speed, link_change and background.
#pragma once

#include "sim/scenario/cluster.h"
#include "sim/scenario/message_text.h"

namespace shardscope::schema {
class Cluster;
}

namespace shardscope {

/// Adds it to the cluster of so many ranks, whose topology is known. `message` is what `text` was
/// parsed into. Faults are reported to `text`.
void read_unevenness(MessageText& text, const schema::Cluster& message, int world_size,
                     Cluster& cluster);

}  // namespace shardscope
