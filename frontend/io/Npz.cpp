// numpy's .npz format: the directory of a zip file, and its members.
#include "frontend/io/Npz.h"

#include "frontend/io/Inflate.h"
#include "frontend/io/Npy.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::io {

namespace {

// Records of the format ("ZIP File Format Specification", sections 4.3 and
// 4.4), each of which begins with its signature.
constexpr uint32_t endSignature = 0x06054b50, end64Signature = 0x06064b50,
                   locatorSignature = 0x07064b50, memberSignature = 0x02014b50,
                   localSignature = 0x04034b50;
constexpr size_t endSize = 22, end64Size = 56, locatorSize = 20,
                 memberSize = 46, localSize = 30;
// DEFLATE shrinks no further.
constexpr uint64_t maxRatio = 1032;

uint32_t crc32(std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    return table;
  }();
  uint32_t sum = ~0u;
  for (std::byte byte : bytes)
    sum = table[(sum ^ uint32_t(byte)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

struct Member {
  std::string name;
  unsigned flags, method;
  uint32_t crc;
  uint64_t packed, size, offset;
};

class ZipFile {
public:
  explicit ZipFile(const Source &source) : source(source) {}

  std::vector<Member> members() {
    auto [count, offset, size] = findDirectory();
    if (offset > source.size() || size > source.size() - offset)
      fail("its directory does not lie in the file");
    directory.resize(size);
    source.read(offset, directory.data(), size);
    std::vector<Member> list;
    size_t at = 0;
    for (uint64_t i = 0; i < count; ++i)
      list.push_back(member(at));
    return list;
  }

  /// The bytes of a member, decompressed and checked.
  std::vector<std::byte> read(const Member &member) {
    if (member.flags & 1)
      fail(member, "is encrypted");
    if (member.method != 0 && member.method != 8)
      fail(member,
           "has the unknown compression " + std::to_string(member.method));
    bool isStored = member.method == 0;
    if (isStored ? member.packed != member.size
                 : member.size / maxRatio > member.packed)
      fail(member, "has a size that cannot be");
    std::vector<std::byte> local = bytes(member.offset, localSize);
    if (number<4>(local, 0) != localSignature)
      fail(member, "does not begin where the directory says");
    uint64_t data =
        member.offset + localSize + number<2>(local, 26) + number<2>(local, 28);
    std::vector<std::byte> packed = bytes(data, member.packed);
    if (isStored)
      return checked(member, std::move(packed));
    std::vector<std::byte> unpacked(member.size);
    if (!inflate(packed, unpacked))
      fail(member, "is damaged");
    return checked(member, std::move(unpacked));
  }

  [[noreturn]] void fail(const std::string &what) const {
    throw FileError(source.name(), what);
  }
  [[noreturn]] void fail(const Member &member, const std::string &what) const {
    fail("its member '" + printable(member.name) + "' " + what);
  }

private:
  struct Directory {
    uint64_t count, offset, size;
  };

  template <size_t N>
  static uint64_t number(std::span<const std::byte> from, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, from.data() + at, N);
    return value;
  }

  std::vector<std::byte> bytes(uint64_t offset, uint64_t count) {
    if (offset > source.size() || count > source.size() - offset)
      fail("it is truncated");
    std::vector<std::byte> result(count);
    source.read(offset, result.data(), count);
    return result;
  }

  std::vector<std::byte> checked(const Member &member,
                                 std::vector<std::byte> bytes) {
    if (crc32(bytes) != member.crc)
      fail(member, "is damaged");
    return bytes;
  }

  /// The end record stands last, before a comment of up to 65,535 bytes.
  Directory findDirectory() {
    uint64_t tailSize = std::min<uint64_t>(source.size(), endSize + 65535);
    uint64_t tailBegin = source.size() - tailSize;
    std::vector<std::byte> tail = bytes(tailBegin, tailSize);
    for (size_t at = tailSize >= endSize ? tailSize - endSize + 1 : 0;
         at-- > 0;) {
      auto end = std::span(tail).subspan(at);
      if (number<4>(end, 0) != endSignature ||
          number<2>(end, 20) != end.size() - endSize)
        continue;
      Directory directory{number<2>(end, 10), number<4>(end, 16),
                          number<4>(end, 12)};
      bool isLarge = directory.count == 0xffff ||
                     directory.offset == 0xffffffff ||
                     directory.size == 0xffffffff;
      return isLarge ? findLargeDirectory(tailBegin + at, directory)
                     : directory;
    }
    fail("it is no .npz file: it has no zip directory");
  }

  Directory findLargeDirectory(uint64_t end, Directory small) {
    if (end < locatorSize)
      return small;
    std::vector<std::byte> locator = bytes(end - locatorSize, locatorSize);
    if (number<4>(locator, 0) != locatorSignature)
      return small;
    std::vector<std::byte> record = bytes(number<8>(locator, 8), end64Size);
    if (number<4>(record, 0) != end64Signature)
      fail("its directory is damaged");
    return {number<8>(record, 32), number<8>(record, 48),
            number<8>(record, 40)};
  }

  /// The member whose record begins at `at`, which moves to the next.
  Member member(size_t &at) {
    std::span<const std::byte> rest = std::span(directory).subspan(at);
    if (rest.size() < memberSize || number<4>(rest, 0) != memberSignature)
      fail("its directory is damaged");
    size_t nameSize = number<2>(rest, 28), extraSize = number<2>(rest, 30),
           total = memberSize + nameSize + extraSize + number<2>(rest, 32);
    if (total > rest.size())
      fail("its directory is damaged");
    Member member{
        std::string(reinterpret_cast<const char *>(rest.data()) + memberSize,
                    nameSize),
        unsigned(number<2>(rest, 8)),
        unsigned(number<2>(rest, 10)),
        uint32_t(number<4>(rest, 16)),
        number<4>(rest, 20),
        number<4>(rest, 24),
        number<4>(rest, 42)};
    readLargeSizes(rest.subspan(memberSize + nameSize, extraSize), member);
    at += total;
    return member;
  }

  /// Numbers that need more than 32 bits are in an extra field, in this order.
  void readLargeSizes(std::span<const std::byte> extra, Member &member) {
    while (extra.size() >= 4) {
      size_t id = number<2>(extra, 0), size = number<2>(extra, 2);
      extra = extra.subspan(4);
      if (size > extra.size())
        return;
      auto field = extra.first(size);
      extra = extra.subspan(size);
      if (id != 1)
        continue;
      for (uint64_t *value : {&member.size, &member.packed, &member.offset})
        if (*value == 0xffffffff && field.size() >= 8) {
          *value = number<8>(field, 0);
          field = field.subspan(8);
        }
    }
  }

  const Source &source;
  std::vector<std::byte> directory;
};

} // namespace

std::vector<RawTensor> readNpz(const Source &source) {
  ZipFile zip(source);
  std::vector<RawTensor> arrays;
  for (const Member &member : zip.members()) {
    if (!member.name.ends_with(".npy"))
      zip.fail(member, "is no array");
    std::vector<std::byte> bytes = zip.read(member);
    auto array = readNpy(
        *openMemory(bytes, source.name() + "/" + printable(member.name)));
    array.name = member.name.substr(0, member.name.size() - 4);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::vector<RawTensor> readNpz(const std::filesystem::path &path) {
  return readNpz(*openFile(path));
}

} // namespace tessera::io
