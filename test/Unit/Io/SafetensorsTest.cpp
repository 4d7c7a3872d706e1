// Tests of the safetensors format: round trips, the bytes of a known file, and
// hostile headers.
#include "frontend/io/Safetensors.h"
#include "test/Unit/Io/IoTestSupport.h"

namespace tessera::io {
namespace {

using Safetensors = FolderTest;

std::string fileOf(const std::string &header, const std::string &data = "") {
  uint64_t size = header.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + header + data;
}

SafetensorsFile parse(const std::string &file) {
  return readSafetensors(*openMemory(asBytes(file), "w.safetensors"));
}

TEST_F(Safetensors, RoundTripOfEveryType) {
  std::vector<RawTensor> tensors;
  for (const runtime::DTypeInfo &type : runtime::kDTypes) {
    if (type.dtype == DType::complex128)
      continue;
    std::vector<uint8_t> bytes(6 * type.bytes, 1);
    for (size_t i = 0; type.dtype != DType::boolean && i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(i * 37);
    tensors.push_back(
        makeTensor(std::string(type.name), type.dtype, {2, 3}, bytes));
  }
  tensors.push_back(makeTensor<float>("scalar", DType::f32, {}, {1.5f}));
  tensors.push_back(makeTensor<float>("empty", DType::f32, {3, 0, 2}, {}));
  tensors.push_back(
      makeTensor<int8_t>("näme \"quoted\"\n", DType::i8, {1}, {7}));
  writeSafetensors(folder / "w.safetensors", tensors,
                   {{"format", "pt"}, {"note", "a\tb"}});

  SafetensorsFile file = readSafetensors(folder / "w.safetensors");
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{
                               {"format", "pt"}, {"note", "a\tb"}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  std::map<std::string, RawTensor> byName;
  for (RawTensor &tensor : file.tensors) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes.data.get()) % 64, 0u);
    byName[tensor.name] = tensor;
  }
  for (const RawTensor &tensor : tensors) {
    ASSERT_TRUE(byName.contains(tensor.name));
    EXPECT_EQ(byName[tensor.name].dtype, tensor.dtype);
    EXPECT_EQ(byName[tensor.name].shape, tensor.shape);
    EXPECT_EQ(valuesOf<uint8_t>(byName[tensor.name]),
              valuesOf<uint8_t>(tensor));
  }
}

TEST_F(Safetensors, BytesOfAKnownFile) {
  std::vector<RawTensor> tensors{
      makeTensor<int8_t>("b", DType::i8, {2}, {1, 2}),
      makeTensor<float>("a", DType::f32, {1, 1}, {1.0f})};
  writeSafetensors(folder / "f", tensors);
  std::string header =
      R"({"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"b":{"dtype":"I8","shape":[2],"data_offsets":[4,6]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(contents(folder / "f"),
            fileOf(header, std::string("\x00\x00\x80\x3f\x01\x02", 6)));
}

TEST_F(Safetensors, AFileWithoutTensors) {
  EXPECT_TRUE(parse(fileOf("{}")).tensors.empty());
  writeSafetensors(folder / "f", {});
  EXPECT_TRUE(readSafetensors(folder / "f").tensors.empty());
}

TEST_F(Safetensors, OtherBooleansBecomeOne) {
  SafetensorsFile file =
      parse(fileOf(R"({"m":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})",
                   std::string("\x00\x01\x7f", 3)));
  EXPECT_EQ(valuesOf<uint8_t>(file.tensors[0]),
            (std::vector<uint8_t>{0, 1, 1}));
}

TEST_F(Safetensors, FieldsInAnyOrderAndTensorsByOffset) {
  SafetensorsFile file = parse(fileOf(
      R"( {"z":{"data_offsets":[1,2],"shape":[1],"dtype":"U8"},"a":{"shape":[1],"dtype":"I8","data_offsets":[0,1]}}  )",
      "xy"));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(valuesOf<char>(file.tensors[1]), std::vector<char>{'y'});
}

TEST_F(Safetensors, HostileFilesAreRefused) {
  auto one = [](const std::string &fields) {
    return fileOf("{\"a\":{" + fields + "}}", "data");
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "too short"},
      {std::string(8, '\0'), "not JSON"},
      {std::string(8, '\xff') + "{}",
       "its header would be 18446744073709551615 bytes long"},
      {fileOf("{}").substr(0, 9), "cut off"},
      {fileOf("[]"), "holds an array"},
      {fileOf("3"), "holds a number"},
      {fileOf("{"), "not JSON"},
      {fileOf("{}{}"), "not JSON"},
      {fileOf("{\"\xff\":1}"), "not JSON"},
      {fileOf(R"({"a":1})"), "holds a number"},
      {fileOf(R"({"a":{}})"), "lacks one of"},
      {fileOf("{}", "x"), "need 0 bytes of data, but the file has 1"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"),
       "unknown field \"x\""},
      {one(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"),
       "field \"dtype\" twice"},
      {one(R"("dtype":"F99","shape":[1],"data_offsets":[0,4])"),
       "unsupported dtype \"F99\""},
      {one(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])"),
       "unsupported dtype \"F8_E4M3\""},
      {one(R"("dtype":"C128","shape":[0],"data_offsets":[0,0])"),
       "unsupported dtype"},
      {one(R"("dtype":"\u001b[2J","shape":[1],"data_offsets":[0,4])"),
       "unsupported dtype \"?[2J\""},
      {one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
       "a negative number"},
      {one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"),
       "the number 1.0"},
      {one(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"),
       "the number 9999999999"},
      {one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"),
       "a dimension of"},
      {one(R"("dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4])"),
       "too large"},
      {one(R"("dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0])"),
       "too large"},
      {one(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
       "holds an array"},
      {one(R"("dtype":"F32","shape":[{"x":1}],"data_offsets":[0,4])"),
       "holds an object"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
       "does not fit"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0])"),
       "needs two data_offsets"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"),
       "needs two data_offsets"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
       "does not fit"},
      {one(R"("dtype":"I8","shape":[3],"data_offsets":[1,4])"),
       "begins at byte 1"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "need 8 bytes of data, but the file has 4"},
      {fileOf(
           R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
           "data"),
       "tensor \"a\" occurs twice"},
      {fileOf(
           R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
           "data"),
       "begins at byte 2"},
      {fileOf(
           R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
           "data"),
       "begins at byte 2"},
      {fileOf(R"({"__metadata__":{"a":1}})"), "holds a number"},
      {fileOf(R"({"__metadata__":{"a":{}}})"), "holds an object"},
      {fileOf(R"({"__metadata__":{"a":"1","a":"2"}})"),
       "metadata holds \"a\" twice"},
      {fileOf(R"({"__metadata__":{},"__metadata__":{}})"), "occurs twice"},
      {fileOf(R"({"__metadata__":null})"), "holds null"},
  };
  for (const auto &[file, expected] : cases) {
    std::string text = errorOf([&] { parse(file); });
    EXPECT_EQ(text.rfind("w.safetensors: ", 0), 0u) << text;
    EXPECT_NE(text.find(expected), std::string::npos)
        << "wanted '" << expected << "' in: " << text;
  }
}

TEST_F(Safetensors, DeepNestingAndManyDimensionsCostNothing) {
  EXPECT_NE(errorOf([] {
              parse(fileOf("{\"a\":" + std::string(1'000'000, '[')));
            }).find("holds an array"),
            std::string::npos);
  std::string nested;
  for (int i = 0; i < 200'000; ++i)
    nested += "{\"a\":";
  EXPECT_NE(errorOf([&] { parse(fileOf(nested)); }).find("unknown field"),
            std::string::npos);
  std::string dimensions = "1";
  for (int i = 0; i < 100'000; ++i)
    dimensions += ",1";
  EXPECT_NE(errorOf([&] {
              parse(fileOf("{\"a\":{\"shape\":[" + dimensions + "]}}"));
            }).find("more than 64 dimensions"),
            std::string::npos);
}

TEST_F(Safetensors, MutationsOfAGoodFile) {
  std::vector<RawTensor> tensors{
      makeTensor<float>("layer.weight", DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}),
      makeTensor<int64_t>("step", DType::i64, {}, {7}),
      makeTensor<uint8_t>("mask", DType::boolean, {3}, {0, 1, 1})};
  writeSafetensors(folder / "good", tensors, {{"format", "pt"}});
  EXPECT_GT(
      readMutations(contents(folder / "good"),
                    [](const Source &source) { readSafetensors(source); }),
      5000);
}

TEST_F(Safetensors, WhatCannotBeWrittenIsRefusedAndLeavesTheOldFile) {
  writeSafetensors(folder / "f", std::vector{makeTensor<float>("a", DType::f32,
                                                               {1}, {1.0f})});
  std::string old = contents(folder / "f");
  auto refused = [&](std::vector<RawTensor> tensors, const char *expected) {
    std::string text =
        errorOf([&] { writeSafetensors(folder / "f", tensors); });
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  };
  RawTensor good = makeTensor<float>("a", DType::f32, {1}, {1.0f});
  refused({good, good}, "occurs twice");
  refused({makeTensor<float>("__metadata__", DType::f32, {1}, {1.0f})},
          "name of the metadata");
  refused({makeTensor<float>("\xff", DType::f32, {1}, {1.0f})}, "UTF-8");
  refused({makeTensor<double>("z", DType::complex128, {1}, {1, 2})},
          "no dtype for");
  refused({makeTensor<float>("z", DType::f32, {2}, {1.0f})}, "do not fit");
  refused({makeTensor<float>("z", DType::f32, {-1}, {1.0f})}, "do not fit");
  EXPECT_EQ(contents(folder / "f"), old);
}

} // namespace
} // namespace tessera::io
