// The file of one rank, checked against what the manifest says of it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "sim/checkpoint/manifest.h"
#include "sim/text/fault.h"

namespace shardscope {

/// "fnv1a64:af63dc4c8601ec8c" of the digest's 16 hexadecimal digits.
std::string checksum_text(const std::string& digest);

/// The tensors of a rank's file, in their order: the pieces of the weights, then those of the
/// moments.
struct RankTensor {
  std::string name;
  std::uint64_t count;
};
std::vector<RankTensor> rank_tensors(const std::vector<ModelTensor>& tensors,
                                     const std::vector<TensorRange>& ranges);

/// A rank's file that was found to be as the manifest says. It is opened for each read, so that a
/// checkpoint of a thousand ranks needs no thousand descriptors; a file that has changed since is
/// not read. Safe from several threads and in forked processes.
class RankFile {
 public:
  /// Reads the whole file: its size, its header and its checksum are right, it is a regular file
  /// and no symbolic link. Nothing, and every fault, if not.
  static std::optional<RankFile> open(const std::string& folder, const CheckpointFile& expected,
                                      const std::vector<ModelTensor>& tensors,
                                      std::vector<Fault>& faults);

  /// Elements [first, first + count) of piece `range` of the manifest's list, to fp32. Throws
  /// std::runtime_error if the file cannot be read any more.
  void read(StateVector which, std::size_t range, std::uint64_t first, std::uint64_t count,
            float* destination) const;

 private:
  /// Which file it is, and in what state.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    timespec modified{};
  };

  static std::optional<Identity> identify(int descriptor);
  bool is_unchanged(int descriptor) const;

  std::string path_;
  Identity identity_;
  std::array<std::vector<std::uint64_t>, kStateVectors.size()> begins_;  // Of pieces, bytes.
};

}  // namespace shardscope
