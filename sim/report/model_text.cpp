#include "sim/report/model_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/report/format.h"

namespace shardscope {
namespace {

// "1236-(27 x 16384)-1236": widths that repeat so often that nobody would count them are counted.
std::string layers_text(const std::vector<std::size_t>& widths, const std::string& soft_break) {
  constexpr std::ptrdiff_t kFewestCounted = 4;
  std::string text;
  for (auto width = widths.begin(); width != widths.end();) {
    const auto other = std::find_if(width, widths.end(), [&](auto next) { return next != *width; });
    const std::ptrdiff_t equal = other - width;
    text += text.empty() ? std::string() : "-" + soft_break;
    if (equal >= kFewestCounted) {
      text += "(" + std::to_string(equal) + " x " + std::to_string(*width) + ")";
      width = other;
    } else {
      text += std::to_string(*width);
      ++width;
    }
  }
  return text;
}

std::string transformer_text(const TransformerSpec& spec) {
  const auto count = [](std::size_t n) { return format_count(n); };
  std::string text = "Transformer";
  text += spec.architecture == "transformer" ? "" : " " + spec.architecture;
  text += ", " + count(spec.blocks) + " blocks of " + count(spec.hidden) + ", " +
          count(spec.heads) + " heads";
  if (spec.kv_heads != spec.heads) {
    text += " (" + count(spec.kv_heads) + " of keys and values)";
  }
  return text + ", MLP " + count(spec.intermediate) + ", vocabulary " + count(spec.vocabulary) +
         ", rows of " + count(spec.sequence) + " tokens" +
         (spec.fused_attention ? "" : ", attention not fused");
}

}  // namespace

std::string model_text(const ModelSpec& model, const std::string& soft_break) {
  return model.transformer.has_value() ? transformer_text(*model.transformer)
                                       : "Layers " + layers_text(model.widths, soft_break);
}

}  // namespace shardscope
