#include "sim/files/new_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

TEST(NewFolderTest, VanishesUnlessKept) {
  const TemporaryFolder folder;
  {
    const NewFolder made(folder.path("a/b/c"));
    EXPECT_EQ(made.error(), std::nullopt);
    EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b/c")));
  }
  EXPECT_EQ(folder.file_count(), 0U);
  {
    NewFolder made(folder.path("a/b/"));
    made.keep();
  }
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b")));
}

TEST(NewFolderTest, LeavesWhatWasThereAndWhatIsInIt) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("old"));
  { const NewFolder made(folder.path("old")); }
  EXPECT_TRUE(std::filesystem::exists(folder.path("old")));
  {
    const NewFolder made(folder.path("new"));
    folder.write("new/file", "text");
  }
  EXPECT_EQ(folder.read("new/file"), "text");
}

TEST(NewFolderTest, AFailureLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_TRUE(NewFolder(folder.path("a/" + std::string(300, 'x'))).error().has_value());
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(NewFolderTest, SaysWhyNotWithoutMaking) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  EXPECT_EQ(why_no_folder(folder.path("a/b")), std::nullopt);
  EXPECT_EQ(why_no_folder(folder.path("a/")), std::nullopt);
  EXPECT_EQ(why_no_folder(folder.path("")), std::nullopt);
  EXPECT_EQ(why_no_folder(file), file + ": cannot be written to: " + file + " is not a folder");
  EXPECT_EQ(why_no_folder(file + "/a"),
            file + "/a: cannot be written to: " + file + " is not a folder");
  EXPECT_EQ(why_no_folder(""), "the name of the folder is empty");
  EXPECT_EQ(folder.file_count(), 1U);
  std::filesystem::create_symlink("nowhere", folder.path("link"));
  EXPECT_TRUE(NewFolder(folder.path("link")).error().has_value());
  EXPECT_EQ(folder.file_count(), 2U);
}

TEST(NewFolderTest, AFolderThatIsClosed) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "every folder is open to root";
  }
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(""), std::filesystem::perms::owner_read);
  EXPECT_TRUE(why_no_folder(folder.path("a")).has_value());
  std::filesystem::permissions(folder.path(""), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace shardscope
