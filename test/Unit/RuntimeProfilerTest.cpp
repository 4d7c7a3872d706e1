// The profile: events as Chrome trace JSON, the file at exit.
#include "runtime/Profiler.h"

#include "runtime/FileUtils.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera::runtime;

TEST(Profiler, isOffByDefault) {
  EXPECT_FALSE(isProfiling());
  {
    ProfileScope scope("nothing");
  }
  EXPECT_EQ(profileAsJson().find("nothing"), std::string::npos);
}

TEST(Profiler, eventsAreEscapedJson) {
  recordEvent("a \"quoted\\\n name", 1000, 3500);
  std::string json = profileAsJson();
  EXPECT_NE(json.find("{\"name\":\"a \\\"quoted\\\\\\u000a name\",\"ph\":\"X\","
                      "\"ts\":1.000,\"dur\":2.500,"),
            std::string::npos)
      << json;
}

TEST(ProfilerDeathTest, writesTheFileAtExit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  std::string path =
      testing::TempDir() + "tessera-profile-" + std::to_string(getppid());
  if (!testing::internal::InDeathTestChild())
    path = testing::TempDir() + "tessera-profile-" + std::to_string(getpid());
  setenv("TESSERA_PROFILE", path.c_str(), 1);
  EXPECT_EXIT(
      {
        {
          ProfileScope scope("a call");
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  unsetenv("TESSERA_PROFILE");
  std::string json = readFile(path, 1 << 20);
  EXPECT_EQ(json.find("{\"displayTimeUnit\""), 0u);
  EXPECT_NE(json.find("\"name\":\"a call\""), std::string::npos);
  unlink(path.c_str());
}
