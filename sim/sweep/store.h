// points.jsonl: a line per row, appended as rows come, so that whatever ends the program leaves the
// rows before it. Once all are there the lines are put in order.
//
// Errors are texts that name the file and the reason. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/row.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

/// Where a row's line is.
struct LinePlace {
  std::size_t task = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< Without the line's end.
};

/// What a file holds.
struct StoredLines {
  std::vector<LinePlace> lines;   ///< In their order in the file.
  std::uint64_t whole_bytes = 0;  ///< Up to the end of the last whole line.
  std::uint64_t torn_bytes = 0;   ///< Behind it: a line that was not written to its end.
};

/// Reads the file; one that does not exist holds nothing. Lines that are no results of the sweep,
/// or the same one twice, are problems, all of which are appended, but for a last line that was
/// torn. `visit`, if there is one, gets each row.
StoredLines read_store(const std::string& path, const Sweep& sweep,
                       const std::function<void(std::size_t task, const Row&)>& visit,
                       std::vector<std::string>& problems);

/// Appends rows to the file, which it keeps to itself as long as it is open.
class StoreWriter {
 public:
  /// Opens the file, makes it if need be, and cuts off the torn line. It must still be as long as
  /// when it was read: another process may have written to it, or put another file in its place.
  StoreWriter(const std::string& path, const StoredLines& read);
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;
  ~StoreWriter() { close(); }

  /// Appends a line and its end, whole or not at all. The first failure is kept. Lines go to disk
  /// after a second at most.
  void append(std::string_view line);

  /// Waits until everything is on disk.
  void flush();

  /// Gives the file up, as a child process must that has a copy of it.
  void close();

  const std::optional<std::string>& error() const { return error_; }

 private:
  void fail(const std::string& reason);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t flushed_ms_ = 0;
  std::optional<std::string> error_;
};

/// A file to take lines from.
struct StorePart {
  std::string path;
  std::vector<LinePlace> lines;
};

/// Writes the lines of all parts, by ascending task, as the file at `path`, which may be one of the
/// parts. The error, or nothing.
std::optional<std::string> write_in_order(const std::string& path,
                                          const std::vector<StorePart>& parts);

/// Whether the lines are by ascending task.
bool is_in_order(const std::vector<LinePlace>& lines);

}  // namespace shardscope
