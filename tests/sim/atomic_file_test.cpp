#include "sim/files/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

TEST(AtomicFileTest, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path("report.json"));
  file.write("{");
  file.write("}");
  EXPECT_FALSE(std::filesystem::exists(folder.path("report.json")));
  EXPECT_EQ(file.commit(), std::nullopt);
  EXPECT_EQ(folder.read("report.json"), "{}");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(AtomicFileTest, IsCompleteWhenClosedAndAppearsWhenCommitted) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path("trace.0.et"));
  file.write("node");
  EXPECT_EQ(file.close(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder.path("trace.0.et")));
  EXPECT_EQ(file.commit(), std::nullopt);
  EXPECT_EQ(file.commit(), std::nullopt);
  EXPECT_EQ(folder.read("trace.0.et"), "node");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(AtomicFileTest, LeavesNothingWhenClosedWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder.path("trace.0.et"));
    EXPECT_EQ(file.close(), std::nullopt);
  }
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(AtomicFileTest, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  { AtomicFile(folder.path("report.json")).write("half"); }
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(AtomicFileTest, AnAbandonedReplacementKeepsTheOldFile) {
  const TemporaryFolder folder;
  folder.write("report.json", "old");
  { AtomicFile(folder.path("report.json")).write("half"); }
  EXPECT_EQ(folder.read("report.json"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(AtomicFileTest, ReplacesAFileAndKeepsItsPermissions) {
  const TemporaryFolder folder;
  folder.write("report.json", "old");
  ASSERT_EQ(::chmod(folder.path("report.json").c_str(), 0640), 0);
  EXPECT_EQ(write_file(folder.path("report.json"), "new"), std::nullopt);
  EXPECT_EQ(folder.read("report.json"), "new");
  struct stat status {};
  ASSERT_EQ(::stat(folder.path("report.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(AtomicFileTest, WritesThroughASymbolicLink) {
  const TemporaryFolder folder;
  folder.write("target.json", "old");
  std::filesystem::create_symlink("target.json", folder.path("link.json"));
  EXPECT_EQ(write_file(folder.path("link.json"), "new"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.json")));
  EXPECT_EQ(folder.read("target.json"), "new");
}

TEST(AtomicFileTest, WritesToADeviceWithoutReplacingIt) {
  EXPECT_EQ(write_file("/dev/null", "gone"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFileTest, AFullDiskIsAnErrorAndLeavesNothing) {
  const std::string path = "/dev/full";
  EXPECT_EQ(write_file(path, "text"), path + ": cannot be written: No space left on device");
}

TEST(AtomicFileTest, AFileSizeLimitIsAnErrorAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  folder.write("report.json", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto error = write_file(folder.path("report.json"), std::string(5000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_EQ(error, folder.path("report.json") + ": cannot be written: File too large");
  EXPECT_EQ(folder.read("report.json"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(WhyNotWritableTest, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_EQ(why_not_writable(""), ": cannot be written: the name is empty");
  EXPECT_EQ(why_not_writable(folder.path("")),
            folder.path("") + ": cannot be written: it is a folder");
  EXPECT_EQ(why_not_writable(folder.path("none/report.json")),
            folder.path("none/report.json") + ": cannot be written: its folder does not exist");
  EXPECT_EQ(why_not_writable(folder.path("file/report.json")),
            folder.path("file/report.json") + ": cannot be written: Not a directory");
  const std::string long_name = folder.path(std::string(300, 'x'));
  EXPECT_EQ(why_not_writable(long_name), long_name + ": cannot be written: File name too long");
}

TEST(WhyNotWritableTest, LeavesNothingBehind) {
  const TemporaryFolder folder;
  EXPECT_EQ(why_not_writable(folder.path("report.json")), std::nullopt);
  EXPECT_EQ(folder.file_count(), 0U);
}

}  // namespace
}  // namespace shardscope
