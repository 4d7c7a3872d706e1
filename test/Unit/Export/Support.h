// What the tests of program files share.
#pragma once

#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera {

/// Each test writes into a folder of its own.
class ExportTest : public testing::Test {
protected:
  ExportTest() {
    auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder = testing::TempDir() + "tessera-export-" +
             std::to_string(newSeed()) + info->test_suite_name() + "-" +
             info->name() + "/";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~ExportTest() override {
    set_default_device(Device("cpu"));
    std::filesystem::remove_all(folder);
  }

  static uint64_t newSeed() {
    static const uint64_t seed =
        uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
    return seed;
  }

  /// Fresh numbers at each run, the seed of which a failing test shows.
  Tensor numbers(const Shape &shape) {
    return random::normal(random::key(newSeed() + ++drawn), shape).eval();
  }

  std::string path(const std::string &name = "p.mlir") const {
    return folder + name;
  }
  static std::string read(const std::string &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static void write(const std::string &file, const std::string &text) {
    std::ofstream(file) << text;
  }
  /// Replaces the first occurrence of a text in a file, which must have one.
  static void edit(const std::string &file, const std::string &from,
                   const std::string &to) {
    std::string text = read(file);
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in\n" << text;
    write(file, text.replace(at, from.size(), to));
  }

  testing::ScopedTrace seed{__FILE__, __LINE__,
                            "seed " + std::to_string(newSeed())};
  std::string folder;
  uint64_t drawn = 0;
};

inline bool sameBits(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

inline std::vector<std::string>
namesOf(const std::vector<Program::Value> &values) {
  std::vector<std::string> names;
  for (auto &value : values)
    names.push_back(value.name);
  return names;
}

using Names = std::vector<std::string>;

/// Runs `f`, which must throw an E, and gives its text.
template <typename E, typename F> std::string errorOf(F f) {
  try {
    f();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

inline void expectIn(const std::string &part, const std::string &text) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

} // namespace tessera
