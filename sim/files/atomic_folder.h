// Folders that appear whole or not at all: their files are written to a hidden folder beside the
// final one, which takes its name when everything is on disk.
//
// Not thread-safe. Errors are texts that name the path and the reason; nothing throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardscope {

/// Whether a folder that has the name already is an error, or is exchanged for the new one in one
/// step and then removed.
enum class ExistingFolder { refused, replaced };

class AtomicFolder {
 public:
  /// Makes the hidden folder beside `path`, whose own folder must exist. On failure error() says
  /// why.
  AtomicFolder(const std::string& path, ExistingFolder existing);

  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Removes the hidden folder with all in it unless commit() succeeded.
  ~AtomicFolder();

  /// Where to write the files, each of which must be on disk before commit().
  const std::string& hidden_path() const { return hidden_; }

  /// Flushes the folder to disk, gives it its name and flushes the folder it is in. Returns
  /// error().
  const std::optional<std::string>& commit();

  /// The first failure, or nothing.
  const std::optional<std::string>& error() const { return error_; }

 private:
  void fail(const std::string& reason);
  bool take_name();

  std::string path_;
  ExistingFolder existing_;
  std::string hidden_;  // Empty when there is nothing to remove.
  std::optional<std::string> error_;
};

/// Waits until the names in a folder are on disk. Why not, or nothing.
std::optional<std::string> flush_folder(const std::string& path);

/// Removes a folder and all in it, which vanishes in one step: what a kill leaves of it has a
/// hidden name. The error, or nothing.
std::optional<std::string> remove_folder(const std::string& path);

/// Whether a name is one that AtomicFolder gives to a folder that is not complete, and
/// remove_folder() to one that is on its way out.
bool is_hidden_folder_name(std::string_view name);

}  // namespace shardscope
