// Tests of reading at offsets and of writing atomically.
#include "test/Unit/Io/IoTestSupport.h"

#include <sys/stat.h>
#include <thread>

namespace tessera::io {
namespace {

using File = FolderTest;

void write(const std::filesystem::path &path, std::string_view text) {
  writeFile(path, std::vector<std::span<const std::byte>>{asBytes(text)});
}

TEST_F(File, PiecesFollowEachOther) {
  writeFile(folder / "f",
            std::vector{asBytes("one"), asBytes(""), asBytes("two")});
  EXPECT_EQ(contents(folder / "f"), "onetwo");
  std::unique_ptr<Source> source = openFile(folder / "f");
  char text[3];
  source->read(2, text, 3);
  EXPECT_EQ(std::string(text, 3), "etw");
}

TEST_F(File, ReadingPastTheEndIsAnError) {
  write(folder / "f", "abc");
  std::unique_ptr<Source> source = openFile(folder / "f");
  char text[8];
  EXPECT_NE(errorOf([&] { source->read(1, text, 3); }).find("ends too early"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              source->read(UINT64_MAX, text, 3);
            }).find("ends too early"),
            std::string::npos);
}

TEST_F(File, AFileThatShrinksIsAnError) {
  write(folder / "f", "abcdef");
  std::unique_ptr<Source> source = openFile(folder / "f");
  std::filesystem::resize_file(folder / "f", 2);
  char text[6];
  EXPECT_NE(errorOf([&] { source->read(0, text, 6); }).find("became shorter"),
            std::string::npos);
}

TEST_F(File, MissingFilesAndFoldersAreErrors) {
  EXPECT_EQ(errorOf([&] { openFile(folder / "none"); }),
            (folder / "none").string() +
                ": cannot open: No such file or directory");
  EXPECT_NE(errorOf([&] { openFile(folder); }).find("directory"),
            std::string::npos);
  EXPECT_NE(
      errorOf([&] { write(folder / "none" / "f", "x"); }).find("cannot create"),
      std::string::npos);
  EXPECT_NE(errorOf([&] { write(folder, "x"); }).find("cannot open"),
            std::string::npos);
}

TEST_F(File, ReplacingKeepsPermissionsAndLeavesNothingElse) {
  write(folder / "f", "old");
  ::chmod((folder / "f").c_str(), 0640);
  write(folder / "f", "new");
  struct stat status;
  ASSERT_EQ(::stat((folder / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(contents(folder / "f"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(File, SymbolicLinksStay) {
  write(folder / "f", "old");
  std::filesystem::create_symlink("f", folder / "link");
  write(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents(folder / "f"), "new");
}

TEST_F(File, AnOpenReaderKeepsTheOldContents) {
  write(folder / "f", "old");
  std::unique_ptr<Source> source = openFile(folder / "f");
  write(folder / "f", "new");
  char text[3];
  source->read(0, text, 3);
  EXPECT_EQ(std::string(text, 3), "old");
}

TEST_F(File, PipesCanBeReadAndWritten) {
  std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string sent(300'000, 'x');
  std::thread writer([&] { write(pipe, sent); });
  std::unique_ptr<Source> source = openFile(pipe);
  writer.join();
  std::string text(source->size(), '\0');
  source->read(0, text.data(), text.size());
  EXPECT_EQ(text, sent);
}

TEST_F(File, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP();
  EXPECT_EQ(errorOf([] { write("/dev/full", "x"); }),
            "/dev/full: cannot write: No space left on device");
}

} // namespace
} // namespace tessera::io
