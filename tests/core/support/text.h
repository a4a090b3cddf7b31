// What a trace says about a model.
#pragma once

#include <sstream>
#include <string>

#include "core/nn/model.h"

namespace shardscope::testing {

inline std::string text(const ModelSpec& model) {
  std::ostringstream out;
  out << "widths";
  for (const std::size_t width : model.widths) {
    out << ' ' << width;
  }
  out << (model.activation == Activation::relu ? ", relu" : ", tanh")
      << (model.loss == Loss::mse ? ", mse" : ", cross-entropy");
  return out.str();
}

}  // namespace shardscope::testing
