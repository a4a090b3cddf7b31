#include "sim/files/tensor_checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <unordered_set>

#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::uint64_t kElementsAtOnce = 65536;

/// Unknown tensors named one by one; of a foreign file with thousands, the rest are counted.
constexpr std::size_t kMostUnknownNamed = 20;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

/// Where in a tensor an element is: "[0, 3, 1]".
std::string index_text(const std::vector<std::uint64_t>& shape, std::uint64_t element) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = element % shape[i];
    element /= shape[i];
  }
  return shape_text(index);
}

std::string tensor_text(const SafetensorsFile& file, std::string_view name) {
  return file.path() + ": tensor " + quoted(name);
}

bool shape_fits(const std::vector<std::uint64_t>& found, const std::vector<std::uint64_t>& expected,
                FirstExtent first_extent) {
  if (first_extent == FirstExtent::exact || found.size() != expected.size() || found.empty()) {
    return found == expected;
  }
  return found.front() >= expected.front() &&
         std::equal(found.begin() + 1, found.end(), expected.begin() + 1);
}

void check_expected(const SafetensorsFile& file, const ExpectedTensor& expected,
                    FirstExtent first_extent, std::vector<std::string>& faults) {
  const std::string prefix = tensor_text(file, expected.name);
  const std::string wanted = (first_extent == FirstExtent::at_least ? "at least " : "") +
                             shape_text(expected.shape) + " " + expected.meaning;
  const SafetensorsEntry* entry = file.find(expected.name);
  if (entry == nullptr) {
    faults.push_back(prefix + ": missing; expected " + joined(expected.dtypes) + " of shape " +
                     wanted);
    return;
  }
  const auto& dtypes = expected.dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), entry->dtype) == dtypes.end()) {
    faults.push_back(prefix + ": dtype " + entry->dtype + "; allowed: " + joined(dtypes));
  }
  if (!shape_fits(entry->shape, expected.shape, first_extent)) {
    faults.push_back(prefix + ": shape " + shape_text(entry->shape) + "; expected " + wanted);
  }
}

void check_unknown(const SafetensorsFile& file, const std::vector<ExpectedTensor>& expected,
                   std::vector<std::string>& faults) {
  std::vector<std::string> names;
  names.reserve(expected.size());
  for (const ExpectedTensor& tensor : expected) {
    names.push_back(tensor.name);
  }
  const std::unordered_set<std::string> known(names.begin(), names.end());
  std::size_t unknown = 0;
  for (const SafetensorsEntry& entry : file.entries()) {
    if (known.count(entry.name) > 0 || ++unknown > kMostUnknownNamed) {
      continue;
    }
    const std::string nearest = nearest_name(entry.name, names);
    faults.push_back(tensor_text(file, entry.name) + ": unknown" +
                     (nearest.empty() ? "" : "; did you mean " + quoted(nearest) + "?"));
  }
  if (unknown > kMostUnknownNamed) {
    faults.push_back(file.path() + ": " + std::to_string(unknown - kMostUnknownNamed) +
                     " more unknown tensors");
  }
}

/// Calls `read(first, count)` for pieces of [0, count) until one returns false.
template <typename ReadPiece>
bool for_pieces(std::uint64_t count, ReadPiece read) {
  for (std::uint64_t first = 0; first < count; first += kElementsAtOnce) {
    if (!read(first, std::min(kElementsAtOnce, count - first))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool check_tensors(const SafetensorsFile& file, const std::vector<ExpectedTensor>& expected,
                   FirstExtent first_extent, std::vector<std::string>& faults) {
  const std::size_t faults_before = faults.size();
  for (const ExpectedTensor& tensor : expected) {
    check_expected(file, tensor, first_extent, faults);
  }
  check_unknown(file, expected, faults);
  return faults.size() == faults_before;
}

bool check_finite(const SafetensorsFile& file, const SafetensorsEntry& entry, std::uint64_t count,
                  std::vector<std::string>& faults) {
  std::vector<float> values(std::min(count, kElementsAtOnce));
  return for_pieces(count, [&](std::uint64_t first, std::uint64_t piece) {
    if (auto error = file.read_fp32(entry, first, piece, values.data())) {
      faults.push_back(*std::move(error));
      return false;
    }
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(piece);
    const auto bad =
        std::find_if(values.begin(), end, [](float value) { return !std::isfinite(value); });
    if (bad == end) {
      return true;
    }
    const auto element = first + static_cast<std::uint64_t>(bad - values.begin());
    faults.push_back(tensor_text(file, entry.name) + ": element " +
                     index_text(entry.shape, element) + " is " +
                     (std::isnan(*bad) ? "NaN" : "infinite") + "; allowed are finite numbers");
    return false;
  });
}

bool check_labels(const SafetensorsFile& file, const SafetensorsEntry& entry, std::uint64_t count,
                  std::uint64_t limit, std::vector<std::string>& faults) {
  std::vector<std::int64_t> labels(std::min(count, kElementsAtOnce));
  return for_pieces(count, [&](std::uint64_t first, std::uint64_t piece) {
    if (auto error = file.read(entry, first, piece, labels.data())) {
      faults.push_back(*std::move(error));
      return false;
    }
    const auto end = labels.begin() + static_cast<std::ptrdiff_t>(piece);
    const auto bad = std::find_if(labels.begin(), end, [&](std::int64_t label) {
      return label < 0 || static_cast<std::uint64_t>(label) >= limit;
    });
    if (bad == end) {
      return true;
    }
    const auto element = first + static_cast<std::uint64_t>(bad - labels.begin());
    faults.push_back(tensor_text(file, entry.name) + ": element " +
                     index_text(entry.shape, element) + " is the label " + std::to_string(*bad) +
                     "; allowed are 0 to " + std::to_string(limit - 1));
    return false;
  });
}

const std::vector<std::string>& floating_point_dtypes() {
  static const std::vector<std::string> kDtypes = {"F32", "F16", "BF16"};
  return kDtypes;
}

}  // namespace shardscope
