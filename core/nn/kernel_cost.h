// What a kernel costs a device.
#pragma once

#include <string_view>

namespace shardscope {

/// Floating-point operations and bytes of memory traffic.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

/// One kernel of a layer. The name is a literal.
struct KernelCost {
  std::string_view kernel;
  Cost cost;
};

}  // namespace shardscope
