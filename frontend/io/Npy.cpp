// Reads and writes .npy files; the header is a Python dictionary literal of
// three known keys.
#include "frontend/io/Npy.h"

#include "frontend/io/DTypeNames.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

static_assert(std::endian::native == std::endian::little,
              "arrays are written little-endian");

namespace tessera::io {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicSize = 6;
constexpr uint64_t maxHeader = 1 << 20;
constexpr size_t maxRank = 64; // that of numpy

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Parses  {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  with
/// the keys in any order.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &file)
      : text(text), file(file) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        if (peek() == '[')
          fail("structured dtypes are not supported");
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortranOrder = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        fail("the header's key '" + printable(key) +
             "' is unknown or occurs twice");
      }
      if (!accept(',') && peek() != '}')
        fail("the header is malformed");
    }
    if (peek() != '\0' || position < text.size())
      fail("something follows the header's dictionary");
    if (!descr || !order || !shape)
      fail("the header lacks one of descr, fortran_order and shape");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw FileError(file, what);
  }

  char peek() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\t'))
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  bool accept(char wanted) {
    if (peek() != wanted || position == text.size())
      return false;
    ++position;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted))
      fail(std::string("the header is malformed: '") + wanted +
           "' is missing at its byte " + std::to_string(position));
  }

  std::string string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      fail("the header is malformed: a string is missing at its byte " +
           std::to_string(position));
    size_t end = text.find(quote, ++position);
    if (end == std::string_view::npos)
      fail("the header is malformed: a string does not end");
    std::string result(text.substr(position, end - position));
    position = end + 1;
    return result;
  }

  bool boolean() {
    peek();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(position).starts_with(word)) {
        position += word.size();
        return value;
      }
    }
    fail("the header is malformed: fortran_order is neither True nor False");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      int64_t value = 0;
      peek();
      auto [end, error] = std::from_chars(text.data() + position,
                                          text.data() + text.size(), value);
      if (error != std::errc() || value < 0)
        fail("the header is malformed: a dimension is no number from 0 to "
             "2^63-1");
      if (shape.size() == maxRank)
        fail("the array has more than " + std::to_string(maxRank) +
             " dimensions");
      position = static_cast<size_t>(end - text.data());
      accept('L'); // numpy wrote long integers so under Python 2
      shape.push_back(value);
      if (!accept(',') && peek() != ')')
        fail("the header is malformed: ',' or ')' is missing in the shape");
    }
    return shape;
  }

  std::string_view text;
  const std::string &file;
  size_t position = 0;
};

runtime::DType dtypeOf(const std::string &descr, const std::string &file) {
  if (descr.find('O') != std::string::npos)
    throw FileError(file,
                    "an object array holds pickled Python, which is not read");
  if (!descr.empty() &&
      std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
    if (std::optional<runtime::DType> dtype =
            dtypeOfNpy(std::string_view(descr).substr(1)))
      return *dtype;
  throw FileError(file,
                  "the dtype '" + printable(descr) + "' is not supported");
}

/// Changes the byte order: of each element, or of each half of a complex one.
void reverseBytes(RawTensor &array) {
  size_t word =
      runtime::bytesOf(array.dtype) / (runtime::isComplex(array.dtype) ? 2 : 1);
  std::byte *data = array.bytes.data.get();
  for (size_t i = 0; i < array.bytes.size; i += word)
    std::reverse(data + i, data + i + word);
}

/// Reorders column-major elements into row-major ones, by walking the result
/// with an odometer of indices.
Bytes toRowMajor(const Bytes &source, const std::vector<int64_t> &shape,
                 size_t size) {
  Bytes result = Bytes::allocate(source.size);
  size_t rank = shape.size();
  std::vector<size_t> stride(rank), index(rank, 0);
  for (size_t i = 0, step = size; i < rank;
       step *= static_cast<size_t>(shape[i++]))
    stride[i] = step;
  size_t from = 0;
  for (size_t to = 0; to < source.size; to += size) {
    std::memcpy(result.data.get() + to, source.data.get() + from, size);
    for (size_t i = rank; i-- > 0;) {
      from += stride[i];
      if (++index[i] < static_cast<size_t>(shape[i]))
        break;
      from -= stride[i] * index[i];
      index[i] = 0;
    }
  }
  return result;
}

/// Reads the preamble; returns the header's text and leaves in `dataBegin`
/// where the elements start.
std::string readHeaderText(const Source &source, uint64_t &dataBegin) {
  unsigned char start[magicSize + 2];
  if (source.size() < sizeof start)
    throw FileError(source.name(), "it is too short to be an .npy file");
  source.read(0, start, sizeof start);
  if (std::memcmp(start, magic, magicSize) != 0)
    throw FileError(source.name(),
                    "it is no .npy file: it does not begin with \\x93NUMPY");
  unsigned major = start[magicSize];
  if (major < 1 || major > 3)
    throw FileError(source.name(), "version " + std::to_string(major) +
                                       " of the .npy format is unknown");
  uint32_t size = 0;
  size_t sizeBytes = major == 1 ? 2 : 4;
  source.read(sizeof start, &size, sizeBytes);
  dataBegin = sizeof start + sizeBytes + size;
  if (size > maxHeader || dataBegin > source.size())
    throw FileError(source.name(), "the header would be " +
                                       std::to_string(size) + " bytes long");
  std::string text(size, '\0');
  source.read(sizeof start + sizeBytes, text.data(), size);
  return text;
}

} // namespace

RawTensor readNpy(const Source &source) {
  uint64_t dataBegin = 0;
  std::string text = readHeaderText(source, dataBegin);
  Header header = HeaderParser(text, source.name()).parse();
  runtime::DType dtype = dtypeOf(header.descr, source.name());
  std::string type = typeText(dtype, header.shape);
  std::optional<uint64_t> bytes = checkedByteSize(header.shape, dtype);
  if (!bytes)
    throw FileError(source.name(), "the array is too large: " + type);
  if (*bytes != source.size() - dataBegin)
    throw FileError(source.name(),
                    "the array, " + type + ", needs " + std::to_string(*bytes) +
                        " bytes, but the file has " +
                        std::to_string(source.size() - dataBegin));

  RawTensor array{"", dtype, std::move(header.shape), Bytes::allocate(*bytes)};
  source.read(dataBegin, array.bytes.data.get(), *bytes);
  if (header.descr[0] == '>')
    reverseBytes(array);
  if (header.fortranOrder && array.shape.size() > 1)
    array.bytes = toRowMajor(array.bytes, array.shape, runtime::bytesOf(dtype));
  array.normaliseBooleans();
  return array;
}

RawTensor readNpy(const std::filesystem::path &path) {
  return readNpy(*openFile(path));
}

void writeNpy(const std::filesystem::path &path, const RawTensor &array) {
  array.check(path.string());
  std::string header = std::string("{'descr': '") +
                       (runtime::bytesOf(array.dtype) == 1 ? '|' : '<') +
                       std::string(npyName(array.dtype)) +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(array.shape[i]);
  header += array.shape.size() == 1 ? ",), }" : "), }";
  // The elements begin at a multiple of 64 bytes, and a newline ends the
  // header.
  size_t preamble = magicSize + 4;
  header.resize((preamble + header.size() + 1 + 63) / 64 * 64 - preamble - 1,
                ' ');
  header += '\n';
  if (header.size() > 65535)
    throw FileError(path.string(), "the shape is too long for the format");

  std::string start(magic, magicSize);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  writeFile(path, std::vector<std::span<const std::byte>>{
                      asBytes(start),
                      asBytes(header),
                      {array.bytes.data.get(), array.bytes.size}});
}

} // namespace tessera::io
