// What the tests of the file formats share: a temporary folder, bytes of files,
// and mutations of them.
#pragma once

#include "frontend/io/File.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <unistd.h>

namespace tessera::io {

using runtime::DType;

/// A test with an empty folder of its own that is removed afterwards.
class FolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tessera-io-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

inline std::string contents(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
RawTensor makeTensor(std::string name, runtime::DType dtype,
                     std::vector<int64_t> shape, std::vector<T> values) {
  RawTensor tensor{std::move(name), dtype, std::move(shape),
                   Bytes::allocate(values.size() * sizeof(T))};
  if (!values.empty())
    std::memcpy(tensor.bytes.data.get(), values.data(), tensor.bytes.size);
  return tensor;
}

template <typename T> std::vector<T> valuesOf(const RawTensor &tensor) {
  std::vector<T> values(tensor.bytes.size / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.data.get(), tensor.bytes.size);
  return values;
}

/// The text of the FileError that `call` throws, or a remark that there was
/// none.
template <typename Call> std::string errorOf(Call call) {
  try {
    call();
  } catch (const FileError &error) {
    return error.what();
  }
  return "no error";
}

/// Calls `read` on thousands of damaged copies of a good file: bytes changed,
/// cut out, doubled, or the end cut off. A copy may still be valid; what counts
/// is that nothing but FileError comes out. The bytes are copied into a block
/// of their exact size, so that an address sanitizer sees reads past it.
template <typename Read>
int readMutations(const std::string &good, Read read, int count = 20000) {
  std::mt19937 random(1);
  auto pick = [&](size_t size) {
    return std::uniform_int_distribution<size_t>(0, size)(random);
  };
  static const std::string interesting("\x00\xff\x7f\x80{}[]()\",:'0919<>-e",
                                       22);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    std::string bad = good;
    for (size_t changes = 1 + pick(3); changes > 0 && !bad.empty(); --changes) {
      size_t at = pick(bad.size() - 1), length = 1 + pick(8);
      switch (pick(5)) {
      case 0:
        bad[at] = static_cast<char>(pick(255));
        break;
      case 1:
        bad[at] = interesting[pick(interesting.size() - 1)];
        break;
      case 2:
        bad[at] ^= static_cast<char>(1 << pick(7));
        break;
      case 3:
        bad.erase(at, length);
        break;
      case 4:
        bad.insert(at, bad.substr(at, length));
        break;
      default:
        bad.resize(at);
      }
    }
    std::vector<char> exact(bad.begin(), bad.end());
    std::unique_ptr<Source> source =
        openMemory(std::as_bytes(std::span(exact)), "bad");
    try {
      read(*source);
    } catch (const FileError &error) {
      EXPECT_EQ(std::string(error.what()).rfind("bad: ", 0), 0u);
      ++refused;
    }
  }
  return refused;
}

} // namespace tessera::io
