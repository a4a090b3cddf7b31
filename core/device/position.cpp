#include "core/device/position.h"

namespace shardscope {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::initialization:
      return "initialization";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    case Phase::checkpoint:
      return "checkpoint";
  }
  return "";
}

}  // namespace shardscope
