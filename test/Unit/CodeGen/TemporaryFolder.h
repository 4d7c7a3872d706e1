// A folder that is removed with its content at the end of a test.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tessera::test {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX")
            .string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  void write(const std::string &name, const std::string &content) const {
    std::ofstream(path + "/" + name) << content;
  }
  bool has(const std::string &name) const {
    return std::filesystem::exists(path + "/" + name);
  }

  /// Applies `change` to the content of each file.
  template <typename Change> void changeFiles(Change &&change) const {
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file())
        continue;
      std::stringstream content;
      content << std::ifstream(entry.path()).rdbuf();
      std::string text = content.str();
      change(text);
      std::ofstream(entry.path()) << text;
    }
  }

  std::string path;
};

} // namespace tessera::test
