// A rank's point-to-point view of the network.
//
// Messages from one rank to another arrive in the order they were sent, and the nth receive takes
// the nth message; a receive names exactly the type and count that was sent. Sends are
// asynchronous; their memory must stay valid and unchanged until the request's wait returns.
// Shape-only tensors send their size and nothing else.
#pragma once

#include <memory>

#include "core/tensor/tensor.h"

namespace shardscope {

class Request {
 public:
  virtual ~Request() = default;

  /// Blocks until the sent memory may change. Call once.
  virtual void wait() = 0;
};

/// What becomes of data that arrives: it takes the place of what was there, or is added to it as
/// add() does, straight from the sender's memory.
enum class Arrival { replaces, is_added };

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  virtual std::unique_ptr<Request> isend(int peer, Tensor data) = 0;

  /// Blocks until the data is there.
  virtual void recv(int peer, Tensor data, Arrival arrival) = 0;
};

/// For transports: what `arrived` does to `data`, of the same type and count. Nothing if either is
/// shape-only.
void deliver(Tensor arrived, Tensor data, Arrival arrival);

}  // namespace shardscope
