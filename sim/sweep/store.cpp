#include "sim/sweep/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

#include "sim/files/atomic_file.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostProblems = 20;  // Of a file that is something else altogether.

std::string error_text(int error) { return std::generic_category().message(error); }

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Another process may just be ending, with its children: it gets two seconds.
bool lock(int descriptor) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

// Whether the open file is the one at `path`, and as long as what was read of it.
bool is_as_read(const std::string& path, int descriptor, const StoredLines& read) {
  struct stat open_file {};
  struct stat named_file {};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino &&
         static_cast<std::uint64_t>(open_file.st_size) == read.whole_bytes + read.torn_bytes;
}

// The parts' lines and the order in which they are to be written.
struct OrderedLine {
  std::size_t task;
  std::size_t part;
  std::size_t line;
};

std::vector<OrderedLine> ordered_lines(const std::vector<StorePart>& parts) {
  std::vector<OrderedLine> ordered;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < parts[p].lines.size(); ++i) {
      ordered.push_back({parts[p].lines[i].task, p, i});
    }
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const OrderedLine& a, const OrderedLine& b) { return a.task < b.task; });
  return ordered;
}

}  // namespace

StoredLines read_store(const std::string& path, const Sweep& sweep,
                       const std::function<void(std::size_t task, const Row&)>& visit,
                       std::vector<std::string>& problems) {
  StoredLines stored;
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint32_t> line_of_task(sweep.task_count(), 0);  // 0: none.
  std::string line;
  std::size_t found = 0;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) {  // It has no end.
      stored.torn_bytes = line.size();
      break;
    }
    std::string problem;
    const std::optional<ReadLine> read = read_line(sweep, line, problem);
    if (!read.has_value() && file.peek() == std::ifstream::traits_type::eof()) {
      stored.torn_bytes = line.size() + 1;
      break;
    }
    if (read.has_value()) {
      std::uint32_t& earlier = line_of_task[read->task];
      if (earlier != 0) {
        problem = "is the row of line " + std::to_string(earlier) + " again";
      }
      earlier = static_cast<std::uint32_t>(number);
    }
    if (!problem.empty() && ++found <= kMostProblems) {
      problems.push_back(path + ":" + std::to_string(number) + ": " + problem +
                         "; without this line, sweep --resume computes its row anew");
    }
    if (problem.empty()) {
      stored.lines.push_back({read->task, stored.whole_bytes, line.size()});
      if (visit) {
        visit(read->task, read->row);
      }
    }
    stored.whole_bytes += line.size() + 1;
  }
  if (found > kMostProblems) {
    problems.push_back(path + ": " + std::to_string(found - kMostProblems) + " more such lines");
  }
  return stored;
}

StoreWriter::StoreWriter(const std::string& path, const StoredLines& read)
    : path_(path), size_(read.whole_bytes), flushed_ms_(now_ms()) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ >= 0 && !lock(descriptor_)) {
    fail("another sweep is writing to it");
  } else if (descriptor_ >= 0 && !is_as_read(path, descriptor_, read)) {
    fail("another sweep has just written to it; --resume once more goes on from there");
  } else if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) {
    fail(error_text(errno));
  }
}

void StoreWriter::append(std::string_view line) {
  if (error_.has_value()) {
    return;
  }
  const std::string whole = std::string(line) + "\n";
  std::size_t written = 0;
  while (written < whole.size()) {
    const ssize_t n = ::write(descriptor_, whole.data() + written, whole.size() - written);
    if (n < 0 && errno != EINTR) {
      const std::string reason = error_text(errno);
      // What has been written of the line is of no use; if it stays, it is a torn line.
      static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0);
      fail(reason);
      return;
    }
    written += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  size_ += whole.size();
  if (now_ms() - flushed_ms_ >= 1000) {
    flush();
  }
}

void StoreWriter::flush() {
  if (!error_.has_value() && ::fdatasync(descriptor_) != 0) {
    fail(error_text(errno));
  }
  flushed_ms_ = now_ms();
}

void StoreWriter::close() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

void StoreWriter::fail(const std::string& reason) {
  error_ = path_ + ": cannot be written: " + reason;
  close();
}

std::optional<std::string> write_in_order(const std::string& path,
                                          const std::vector<StorePart>& parts) {
  std::vector<std::unique_ptr<std::ifstream>> files;
  files.reserve(parts.size());
  for (const StorePart& part : parts) {
    files.push_back(std::make_unique<std::ifstream>(part.path, std::ios::binary));
  }
  AtomicFile out(path);
  std::string line;
  for (const OrderedLine& ordered : ordered_lines(parts)) {
    const LinePlace& place = parts[ordered.part].lines[ordered.line];
    line.resize(static_cast<std::size_t>(place.bytes) + 1);
    std::ifstream& file = *files[ordered.part];
    file.seekg(static_cast<std::streamoff>(place.offset));
    if (!file.read(line.data(), static_cast<std::streamsize>(place.bytes))) {
      return parts[ordered.part].path + ": cannot be read";
    }
    line.back() = '\n';
    out.write(line);
  }
  return out.commit();
}

bool is_in_order(const std::vector<LinePlace>& lines) {
  return std::is_sorted(lines.begin(), lines.end(),
                        [](const LinePlace& a, const LinePlace& b) { return a.task < b.task; });
}

}  // namespace shardscope
