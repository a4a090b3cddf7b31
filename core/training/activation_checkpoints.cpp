#include "core/training/activation_checkpoints.h"

namespace shardscope {

ActivationCheckpoints::ActivationCheckpoints(const ModelSpec& model, std::size_t every) {
  const std::size_t layers = model.layer_count();
  while (segments_.size() < layers) {
    const std::size_t begin = segments_.size();
    std::size_t end = begin;
    while (end < layers && end - begin < every && model.can_be_recomputed(end)) {
      ++end;
    }
    const bool is_recomputed = end > begin;
    end = is_recomputed ? end : begin + 1;
    segments_.insert(segments_.end(), end - begin, Segment{begin, end, is_recomputed});
  }
}

std::vector<LayerUse> ActivationCheckpoints::uses() const {
  std::vector<LayerUse> uses;
  for (std::size_t l = 0; l < segments_.size(); ++l) {
    uses.push_back({l, LayerUse::Kind::forward});
  }
  for (std::size_t l = segments_.size(); l-- > 0;) {
    if (is_recomputed(l) && l + 1 == segment_end(l)) {
      for (std::size_t again = segment_begin(l); again <= l; ++again) {
        uses.push_back({again, LayerUse::Kind::recompute});
      }
    }
    uses.push_back({l, LayerUse::Kind::backward});
  }
  return uses;
}

}  // namespace shardscope
