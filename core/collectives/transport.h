// A rank's point-to-point view of the network.
//
// Messages from one rank to another arrive in the order they were sent, and the nth receive takes
// the nth message; a receive names exactly the tensors, by type and count, that were sent. Sends
// are asynchronous; the tensors and their list must stay valid and unchanged until the request's
// wait returns. Shape-only tensors send their size and nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/collectives/round.h"
#include "core/tensor/tensor.h"

namespace shardscope {

/// What one message carries: its tensors' elements, one tensor after another. None: a token.
using TensorList = std::span<const Tensor>;

std::size_t bytes_of(TensorList tensors);

class Request {
 public:
  virtual ~Request() = default;

  /// Blocks until the sent memory may change. Call once.
  virtual void wait() = 0;
};

/// A copy of a message, for transports that cannot leave it where it is. Shape-only tensors stay
/// so.
class MessageCopy {
 public:
  explicit MessageCopy(TensorList message);

  TensorList tensors() const { return tensors_; }

 private:
  std::vector<std::byte> memory_;
  std::vector<Tensor> tensors_;
};

/// A message to be sent.
struct Outgoing {
  int peer = 0;
  TensorList data;
};

/// A message to be received.
struct Incoming {
  int peer = 0;
  TensorList data;
  Arrival arrival = Arrival::replaces;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  virtual std::unique_ptr<Request> isend(int peer, TensorList data) = 0;

  /// Receives them at once and blocks until all are there. They are copied or added, straight from
  /// the senders' memory, in the order of the list.
  virtual void recv(std::span<const Incoming> messages) = 0;

  void recv(int peer, TensorList data, Arrival arrival) {
    const Incoming message = {.peer = peer, .data = data, .arrival = arrival};
    recv({&message, 1});
  }
};

/// For transports: what `arrived` does to `data`, tensor by tensor of the same type and count, as
/// copied bytes or by add(). Nothing for tensors of which either is shape-only. Aborts if the lists
/// differ.
void deliver(TensorList arrived, TensorList data, Arrival arrival);

}  // namespace shardscope
