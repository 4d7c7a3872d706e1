// Devices parse, print and compare.
#include "runtime/Device.h"

#include <gtest/gtest.h>
#include <stdexcept>

using tessera::runtime::Device;
using tessera::runtime::DeviceKind;

TEST(Device, printsWhatItParsed) {
  for (const char *text : {"cpu", "reference", "sim:sm_90", "sim:sm_90a",
                           "sim:sm_100f", "cuda:0", "cuda:7"})
    EXPECT_EQ(Device(text).str(), text);
}

TEST(Device, parts) {
  EXPECT_EQ(Device(), Device("cpu"));
  EXPECT_EQ(Device("cuda:3").ordinal(), 3);
  EXPECT_EQ(Device("sim:sm_90").architecture(), "sm_90");
  EXPECT_EQ(Device("sim:sm_90").kind(), DeviceKind::Sim);
  EXPECT_NE(Device("sim:sm_90"), Device("sim:sm_80"));
  EXPECT_FALSE(Device("cuda:0").isHostMemory());
}

TEST(Device, refusesOtherText) {
  for (const char *text : {"",
                           "gpu",
                           "cpu:0",
                           "cpu:",
                           "CPU",
                           "reference:1",
                           "sim",
                           "sim:",
                           "sim:90",
                           "sim:sm_",
                           "sim:sm_9",
                           "sim:sm_x0",
                           "sim:sm_90aa",
                           "cuda",
                           "cuda:",
                           "cuda:-1",
                           "cuda:+1",
                           "cuda:1 ",
                           "cuda:99999999999",
                           "sim:sm_00000000000090"})
    EXPECT_THROW(Device{text}, std::invalid_argument) << text;
  try {
    Device("gpu");
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(),
                 "unknown device \"gpu\": expected \"cpu\", \"reference\", "
                 "\"sim:sm_90\" or \"cuda:0\"");
  }
}
