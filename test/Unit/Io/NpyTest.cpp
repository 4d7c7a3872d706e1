// Tests of the .npy format: round trips, what numpy writes, and hostile
// headers.
#include "frontend/io/Npy.h"
#include "test/Unit/Io/IoTestSupport.h"

#include <numeric>

namespace tessera::io {
namespace {

using Npy = FolderTest;

std::string fileOf(const std::string &header, const std::string &data = "",
                   char version = 1) {
  auto byte = [&](int shift) {
    return static_cast<char>(header.size() >> shift & 0xff);
  };
  std::string size{byte(0), byte(8)};
  if (version > 1)
    size += {byte(16), byte(24)};
  return std::string("\x93NUMPY") + version + '\0' + size + header + data;
}

std::string headerOf(const std::string &descr, const std::string &shape,
                     const char *order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

RawTensor parse(const std::string &file) {
  return readNpy(*openMemory(asBytes(file), "x.npy"));
}

TEST_F(Npy, RoundTripOfEveryType) {
  for (const runtime::DTypeInfo &type : runtime::kDTypes) {
    std::vector<uint8_t> bytes(6 * type.bytes, 1);
    for (size_t i = 0; type.dtype != DType::boolean && i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(i * 37);
    RawTensor array = makeTensor("", type.dtype, {3, 1, 2}, bytes);
    writeNpy(folder / "x.npy", array);
    RawTensor back = readNpy(folder / "x.npy");
    EXPECT_EQ(back.dtype, array.dtype);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(valuesOf<uint8_t>(back), bytes);
  }
}

TEST_F(Npy, ScalarsEmptyArraysAndVectors) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{}, {0}, {5}, {2, 0, 3}}) {
    auto count = static_cast<size_t>(std::accumulate(
        shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
    writeNpy(folder / "x.npy", makeTensor("", DType::f32, shape,
                                          std::vector<float>(count, 2.0f)));
    RawTensor back = readNpy(folder / "x.npy");
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(valuesOf<float>(back), std::vector<float>(count, 2.0f));
  }
}

TEST_F(Npy, BytesOfAKnownFile) {
  writeNpy(folder / "x.npy", makeTensor<int16_t>("", DType::i16, {2}, {1, 2}));
  std::string header =
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  EXPECT_EQ(contents(folder / "x.npy"),
            fileOf(header + "\n", std::string("\x01\x00\x02\x00", 4)));
}

TEST_F(Npy, VersionsTwoAndThreeHaveLongerHeaders) {
  for (char version : {2, 3})
    EXPECT_EQ(valuesOf<char>(
                  parse(fileOf(headerOf("'|i1'", "(1,)"), "\x05", version))),
              std::vector<char>{5});
}

TEST_F(Npy, OtherByteOrdersAndLayouts) {
  EXPECT_EQ(
      valuesOf<int32_t>(parse(fileOf(headerOf("'>i4'", "(1,)"),
                                     std::string("\x00\x00\x01\x02", 4)))),
      std::vector<int32_t>{0x102});
  RawTensor complex =
      parse(fileOf(headerOf("'>c8'", "()"),
                   std::string("\x3f\x80\x00\x00\x40\x00\x00\x00", 8)));
  EXPECT_EQ(valuesOf<float>(complex), (std::vector<float>{1.0f, 2.0f}));
  RawTensor columns =
      parse(fileOf(headerOf("'|u1'", "(2, 3)", "True"), "adbecf"));
  EXPECT_EQ(valuesOf<char>(columns),
            (std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'}));
  RawTensor cube =
      parse(fileOf(headerOf("'|u1'", "(2, 2, 2)", "True"), "aecgbfdh"));
  EXPECT_EQ(valuesOf<char>(cube),
            (std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}));
}

TEST_F(Npy, KeysInAnyOrderAndOldSpellings) {
  EXPECT_EQ(
      parse(fileOf(R"({"shape":(2L,1L),"descr":"|b1",'fortran_order':True})",
                   "\x01\x09"))
          .shape,
      (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(
      valuesOf<char>(parse(fileOf(headerOf("'|b1'", "(2,)"), "\x01\x09"))),
      (std::vector<char>{1, 1}));
}

TEST_F(Npy, HostileFilesAreRefused) {
  std::string good = fileOf(headerOf("'<f4'", "(1,)"), "data");
  const std::pair<std::string, std::string> cases[] = {
      {"", "too short"},
      {"not an npy file", "does not begin with"},
      {fileOf("", "", 9), "version 9"},
      {fileOf("", "", 0), "version 0"},
      {good.substr(0, 9), "ends too early"},
      {good.substr(0, 20), "header would be"},
      {good.substr(0, good.size() - 1), "needs 4 bytes, but the file has 3"},
      {good + "x", "needs 4 bytes, but the file has 5"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + "{}",
       "header would be 4294967295"},
      {fileOf(""), "'{' is missing"},
      {fileOf("{}"), "lacks one of"},
      {fileOf("{'descr': '<f4'"), "malformed"},
      {fileOf("{'descr': '<f4"), "does not end"},
      {fileOf("{'descr'"), "':' is missing"},
      {fileOf("{descr: 1}"), "a string is missing"},
      {fileOf("{'color': 1}"), "key 'color'"},
      {fileOf("{'descr': '<f4', 'descr': '<f4'}"),
       "key 'descr' is unknown or occurs twice"},
      {fileOf(headerOf("'<f4'", "(1,)") + "{}"), "something follows"},
      {fileOf(headerOf("'<f4'", "(1,)", "Maybe")), "neither True nor False"},
      {fileOf(headerOf("'<f4'", "(1")), "malformed"},
      {fileOf(headerOf("'<f4'", "(-1,)")), "a dimension is no number"},
      {fileOf(headerOf("'<f4'", "(1.5,)")), "malformed"},
      {fileOf(headerOf("'<f4'", "(99999999999999999999,)")),
       "a dimension is no number"},
      {fileOf(headerOf("'<f4'", "(4611686018427387904, 2)")), "too large"},
      {fileOf(headerOf("'<f4'", "(0, 4611686018427387904, 4)")), "too large"},
      {fileOf(headerOf("'<f4'", "(" + std::string(200, '1') + ")")),
       "a dimension is no number"},
      {fileOf(headerOf("'<f3'", "(1,)")), "dtype '<f3'"},
      {fileOf(headerOf("''", "(1,)")), "dtype ''"},
      {fileOf(headerOf("'f4'", "(1,)")), "dtype 'f4'"},
      {fileOf(headerOf("'<U7'", "(1,)")), "dtype '<U7'"},
      {fileOf(headerOf("'<M8[ns]'", "(1,)")), "dtype '<M8[ns]'"},
      {fileOf(headerOf("'|O'", "(1,)")), "pickled Python"},
      {fileOf(headerOf("[('a', '<f4')]", "(1,)")), "structured dtypes"},
  };
  for (const auto &[file, expected] : cases) {
    std::string text = errorOf([&] { parse(file); });
    EXPECT_EQ(text.rfind("x.npy: ", 0), 0u) << text;
    EXPECT_NE(text.find(expected), std::string::npos)
        << "wanted '" << expected << "' in: " << text;
  }
  std::string dimensions;
  for (int i = 0; i < 1000; ++i)
    dimensions += "1,";
  EXPECT_NE(errorOf([&] {
              parse(fileOf(headerOf("'|u1'", "(" + dimensions + ")")));
            }).find("more than 64"),
            std::string::npos);
}

TEST_F(Npy, MutationsOfAGoodFile) {
  std::string good =
      fileOf(headerOf("'>i2'", "(2, 3)", "True"), "abcdefabcdef");
  EXPECT_GT(readMutations(good, [](const Source &source) { readNpy(source); }),
            5000);
}

TEST_F(Npy, WhatCannotBeWrittenIsRefused) {
  EXPECT_NE(errorOf([&] {
              writeNpy(folder / "x",
                       makeTensor<float>("", DType::f32, {2}, {1.0f}));
            }).find("do not fit"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

} // namespace
} // namespace tessera::io
