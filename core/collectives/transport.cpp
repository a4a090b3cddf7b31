#include "core/collectives/transport.h"

#include <cstring>

#include "core/check.h"
#include "core/tensor/kernels.h"

namespace shardscope {

std::size_t bytes_of(TensorList tensors) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    bytes += tensor.bytes();
  }
  return bytes;
}

MessageCopy::MessageCopy(TensorList message) {
  const bool is_real = !message.empty() && message.front().is_real();
  memory_.resize(is_real ? bytes_of(message) : 0);
  std::byte* copy = memory_.data();
  tensors_.reserve(message.size());
  for (const Tensor& tensor : message) {
    tensors_.push_back({is_real ? copy : nullptr, tensor.dtype, tensor.count});
    if (is_real) {
      std::memcpy(copy, tensor.data, tensor.bytes());
      copy += tensor.bytes();
    }
  }
}

void deliver(TensorList arrived, TensorList data, Arrival arrival) {
  SHARDSCOPE_CHECK(arrived.size() == data.size(), "a receive names other tensors than were sent");
  for (std::size_t i = 0; i < data.size(); ++i) {
    SHARDSCOPE_CHECK(arrived[i].dtype == data[i].dtype && arrived[i].count == data[i].count,
                     "a receive names another type or count than was sent");
    if (!arrived[i].is_real() || !data[i].is_real()) {
      continue;
    }
    if (arrival == Arrival::is_added) {
      add(data[i], arrived[i]);
    } else {
      std::memcpy(data[i].data, arrived[i].data, data[i].bytes());
    }
  }
}

}  // namespace shardscope
