// Whole files: reading with a bound, replacing atomically.
#include "runtime/FileUtils.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace tessera::runtime;
namespace fs = std::filesystem;

namespace {

struct FileUtils : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) /
                    ("tessera-files-" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const char *name) { return (folder / name).string(); }
};

int errorOf(const std::string &path, size_t maxBytes) {
  try {
    readFile(path, maxBytes);
  } catch (const std::system_error &error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    return error.code().value();
  }
  return 0;
}

} // namespace

TEST_F(FileUtils, readsBackWhatWasWritten) {
  for (size_t size : {0, 1, 4096, 200001}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i)
      bytes[i] = char(i * 31);
    writeFileAtomic(path("data"), bytes);
    EXPECT_EQ(readFile(path("data"), size), bytes);
  }
  // No temporary file stays.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(FileUtils, errorsNameThePath) {
  writeFileAtomic(path("data"), "12345");
  EXPECT_EQ(errorOf(path("data"), 4), EFBIG);
  EXPECT_EQ(errorOf(path("missing"), 4), ENOENT);
  EXPECT_EQ(errorOf(folder.string(), 4), EISDIR);
  EXPECT_THROW(writeFileAtomic(path("no/such/folder"), ""), std::system_error);
  fs::create_directories(folder / "taken" / "inner");
  EXPECT_THROW(writeFileAtomic(path("taken"), ""), std::system_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_F(FileUtils, filesWithoutASize) {
  EXPECT_NE(readFile("/proc/self/maps", 1 << 20), "");
  EXPECT_EQ(errorOf("/dev/zero", 100000), EFBIG);
}

TEST_F(FileUtils, pipesAndDevicesAreWrittenTo) {
  std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  writeFileAtomic(pipe, "12345");
  EXPECT_TRUE(fs::is_fifo(pipe));
  char seen[8];
  EXPECT_EQ(read(reader, seen, sizeof seen), 5);
  close(reader);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(FileUtils, readersSeeOldOrNew) {
  const std::string texts[] = {std::string(100000, 'a'),
                               std::string(50000, 'b')};
  writeFileAtomic(path("data"), texts[0]);
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i)
      writeFileAtomic(path("data"), texts[i % 2]);
  });
  for (int i = 0; i < 200; ++i) {
    std::string seen = readFile(path("data"), 1 << 20);
    EXPECT_TRUE(seen == texts[0] || seen == texts[1]);
  }
  writer.join();
}
