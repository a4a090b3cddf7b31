// Files that are written whole or not at all: the text goes to a temporary file in the same folder,
// which takes the final name when everything has been written.
//
// What is no regular file (/dev/null, a pipe) is written directly: it cannot be replaced.
// Not thread-safe. Errors are texts that name the path and the reason; nothing throws.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shardscope {

class AtomicFile {
 public:
  /// Opens the temporary file beside `path`. On failure error() says why and writes do nothing.
  explicit AtomicFile(const std::string& path);

  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile();

  /// Appends. The first failure is kept; later calls do nothing.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Flushes to disk and closes, so that many files can be complete before the first takes its
  /// name. Returns error().
  const std::optional<std::string>& close();

  /// close() if that is still to be done, then renames. Returns error().
  const std::optional<std::string>& commit();

  /// The first failure, or nothing.
  const std::optional<std::string>& error() const { return error_; }

 private:
  void open_beside();
  void open_directly();
  void fail(const std::string& reason);
  void discard();

  std::string path_;    ///< As given, for messages.
  std::string target_;  ///< What is replaced: symbolic links resolved.
  std::string temporary_;
  int descriptor_ = -1;
  std::optional<std::string> error_;
};

/// Writes `content` as a whole. The error, or nothing.
std::optional<std::string> write_file(const std::string& path, std::string_view content);

/// Whether a file of that name, without folders, is one that has not taken its target's place yet.
bool is_temporary_name(std::string_view name);

/// Why no file can be written at `path`, or nothing if one can be: meant for before a long run.
/// Leaves nothing behind.
std::optional<std::string> why_not_writable(const std::string& path);

}  // namespace shardscope
