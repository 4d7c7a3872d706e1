// Reading of TESSERA_* variables.
#include "runtime/Environment.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace tessera::runtime;

namespace {

struct Setting {
  std::string name;
  Setting(Variable variable, const char *value) : name(nameOf(variable)) {
    setenv(name.c_str(), value, 1);
  }
  ~Setting() { unsetenv(name.c_str()); }
};

} // namespace

TEST(Environment, strings) {
  EXPECT_EQ(nameOf(Variable::Dump), "TESSERA_DUMP");
  EXPECT_EQ(readVariable(Variable::Dump), std::nullopt);
  Setting set(Variable::Dump, "folder");
  EXPECT_EQ(readVariable(Variable::Dump), "folder");
  Setting empty(Variable::Dump, "");
  EXPECT_EQ(readVariable(Variable::Dump), std::nullopt);
}

TEST(Environment, integers) {
  EXPECT_EQ(readInteger(Variable::Threads, 1, 8), std::nullopt);
  {
    Setting set(Variable::Threads, "8");
    EXPECT_EQ(readInteger(Variable::Threads, 1, 8), 8);
  }
  for (const char *bad :
       {"0", "9", "-1", "x", "4x", " 4", "1e1", "99999999999999999999"}) {
    Setting set(Variable::Threads, bad);
    EXPECT_THROW(readInteger(Variable::Threads, 1, 8), std::invalid_argument);
  }
  Setting set(Variable::Threads, "many");
  try {
    readInteger(Variable::Threads, 1, 8);
    FAIL();
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(),
                 "TESSERA_THREADS=many: expected a whole number from 1 to 8");
  }
}

TEST(Environment, flags) {
  EXPECT_EQ(readFlag(Variable::Fuse), std::nullopt);
  {
    Setting set(Variable::Fuse, "0");
    EXPECT_EQ(readFlag(Variable::Fuse), false);
  }
  {
    Setting set(Variable::Fuse, "on");
    EXPECT_EQ(readFlag(Variable::Fuse), true);
  }
  Setting set(Variable::Fuse, "maybe");
  EXPECT_THROW(readFlag(Variable::Fuse), std::invalid_argument);
}

TEST(Environment, unknownNamesAreFound) {
  const char *environment[] = {
      "PATH=/bin",    "TESSERA_THREADS=2",  "TESSERA_THREAD=2",
      "TESSERA_dump", "MY_TESSERA_THING=1", "TESSERA_JOBS=1",
      nullptr};
  EXPECT_EQ(unknownVariables(environment),
            (std::vector<std::string>{"TESSERA_THREAD", "TESSERA_dump"}));
}

TEST(EnvironmentDeathTest, unknownNamesAreReportedOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("TESSERA_CASHE", "x", 1);
  EXPECT_EXIT(
      {
        checkEnvironment();
        readVariable(Variable::Cache);
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^tessera: warning: unknown environment variable TESSERA_CASHE; known "
      "are TESSERA_DUMP [A-Z0-9_ ]*\n$");
  unsetenv("TESSERA_CASHE");
}
