// npz files: stored and compressed members, and files that are damaged.
#include "frontend/io/Npz.h"
#include "frontend/io/Inflate.h"

#include "IoTestSupport.h"

namespace tessera::io {
namespace {

/// As Python's zipfile writes it: x is f32[2,3], stored.
constexpr char stored[] =
    "504b03042d0000000000000021007c9cdea2ffffffffffffffff05001400782e6e707901"
    "00100098000000000000009800000000000000934e554d5059010076007b276465736372"
    "273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c202773"
    "68617065273a2028322c2033292c207d2020202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020"
    "20200a0000803f0000004000004040000080400000a0400000c040504b01022d032d0000"
    "000000000021007c9cdea298000000980000000500000000000000000000008001000000"
    "00782e6e7079504b0506000000000100010033000000cf0000000000";

/// x, and n, which is i64[40], compressed.
constexpr char compressed[] =
    "504b03042d0000000800000021007c9cdea2ffffffffffffffff05001400782e6e707901"
    "001000980000000000000058000000000000009bec17ea1b10c9c850c650ad9e925a9c5c"
    "a46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416"
    "a402f91a463a0ac69a3a0ab50a64032e0686067b060606072002e206205e00c4071c0050"
    "4b03042d0000000800000021006cf5170effffffffffffffff050014006e2e6e70790100"
    "1000c0010000000000005b000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca4"
    "6ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a4"
    "02f91a26063a9a3a0ab50ae4032e06286084d24c509a194ab340695628cdc6800a46ba3e"
    "00504b01022d032d0000000800000021007c9cdea2580000009800000005000000000000"
    "0000000000800100000000782e6e7079504b01022d032d0000000800000021006cf5170e"
    "5b000000c001000005000000000000000000000080018f0000006e2e6e7079504b050600"
    "0000000200020066000000210100000000";

std::vector<std::byte> bytesOf(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(
        std::byte(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::vector<RawTensor> read(const std::vector<std::byte> &bytes) {
  return readNpz(*openMemory(bytes, "test.npz"));
}

TEST(NpzTest, ReadsStoredMembers) {
  auto arrays = read(bytesOf(stored));
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].name, "x");
  EXPECT_EQ(arrays[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(valuesOf<float>(arrays[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(NpzTest, ReadsCompressedMembers) {
  auto arrays = read(bytesOf(compressed));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(valuesOf<float>(arrays[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(arrays[1].name, "n");
  std::vector<int64_t> values = valuesOf<int64_t>(arrays[1]);
  ASSERT_EQ(values.size(), 40u);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], int64_t(i % 7));
}

TEST(NpzTest, TruncatedFilesAreErrors) {
  std::vector<std::byte> bytes = bytesOf(compressed);
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_THROW(read(bytes), FileError) << bytes.size();
  }
}

TEST(NpzTest, ChangedDataIsAnErrorOrTheSame) {
  for (const char *file : {stored, compressed}) {
    const std::vector<std::byte> bytes = bytesOf(file);
    auto good = read(bytes);
    for (size_t i = 0; i < bytes.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        std::vector<std::byte> changed = bytes;
        changed[i] ^= std::byte(1 << bit);
        try {
          auto arrays = read(changed);
          for (size_t k = 0; k < std::min(arrays.size(), good.size()); ++k)
            EXPECT_EQ(valuesOf<char>(arrays[k]), valuesOf<char>(good[k]));
        } catch (const FileError &) {
        }
      }
  }
}

TEST(NpzTest, OtherFilesAreErrors) {
  std::string text =
      errorOf([] { read(std::vector<std::byte>(1000, std::byte(7))); });
  EXPECT_EQ(text, "test.npz: it is no .npz file: it has no zip directory");
}

// RFC 1951: a stored block, the codes that every stream has, and wrong ones.
TEST(InflateTest, ReadsEachKindOfBlock) {
  auto run = [](std::string_view hex, size_t size) {
    std::string to(size, '?');
    bool isGood = inflate(bytesOf(hex), std::as_writable_bytes(std::span(to)));
    return isGood ? to : "error";
  };
  EXPECT_EQ(run("010500faff68656c6c6f", 5), "hello");
  EXPECT_EQ(run("cb48cdc9c957c8409000", 17), "hello hello hello");
  EXPECT_EQ(run("cb48cdc9c957c8409000", 16), "error");
  EXPECT_EQ(run("cb48cdc9c957c8409000", 18), "error");
  EXPECT_EQ(run("cb48cdc9c90700", 5), "hello");
  EXPECT_EQ(run("4b4c840100", 10), "aaaaaaaaaa");
  EXPECT_EQ(run("07", 5), "error");
  EXPECT_EQ(run("010500faee68656c6c6f", 5), "error");
}

} // namespace
} // namespace tessera::io
