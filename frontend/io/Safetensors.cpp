// Reads and writes safetensors files. The header is parsed event by event, so
// that duplicate names are seen and neither nesting nor size of hostile JSON
// costs memory.
#include "frontend/io/Safetensors.h"

#include "frontend/io/DTypeNames.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

static_assert(std::endian::native == std::endian::little,
              "the formats hold little-endian numbers");

namespace tessera::io {
namespace {

using json = nlohmann::json;

constexpr uint64_t maxHeader =
    100'000'000; // the limit of the reference implementation
constexpr size_t maxRank = 64;
constexpr const char *metadataKey = "__metadata__";

struct Entry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<uint64_t> offsets;
  bool hasDtype = false, hasShape = false, hasOffsets = false;
};

std::string described(const std::string &name) {
  return "tensor \"" + printable(name) + "\"";
}

/// Receives the events of the JSON parser for exactly this grammar:
///   { "__metadata__": {string: string...}, name: {"dtype": string, "shape":
///   [n...], "data_offsets": [n, n]}... }
/// A handler that returns false stops the parser; `fault` then says why.
class HeaderReader final : public nlohmann::json_sax<json> {
public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string fault;

  bool start_object(size_t) override {
    if (place == Place::start)
      return enter(Place::top);
    if (place == Place::entryStart)
      return enter(Place::entry);
    if (place == Place::metadataStart)
      return enter(Place::metadata);
    return unexpected("an object");
  }

  bool key(std::string &text) override {
    switch (place) {
    case Place::top:
      return topKey(text);
    case Place::entry:
      return entryKey(text);
    default:
      if (metadata.contains(text))
        return stop("the metadata holds \"" + printable(text) + "\" twice");
      current = text;
      return enter(Place::metadataValue);
    }
  }

  bool end_object() override {
    switch (place) {
    case Place::entry:
      if (Entry &entry = entries.back();
          !entry.hasDtype || !entry.hasShape || !entry.hasOffsets)
        return stop(described(entry.name) +
                    " lacks one of dtype, shape and data_offsets");
      return enter(Place::top);
    case Place::metadata:
      return enter(Place::top);
    default:
      return enter(Place::end);
    }
  }

  bool start_array(size_t) override {
    if (place == Place::shapeStart)
      return enter(Place::shape);
    if (place == Place::offsetsStart)
      return enter(Place::offsets);
    return unexpected("an array");
  }

  bool end_array() override {
    if (place == Place::offsets && entries.back().offsets.size() != 2)
      return stop(described(entries.back().name) + " needs two data_offsets");
    return enter(Place::entry);
  }

  bool string(std::string &text) override {
    if (place == Place::dtype) {
      entries.back().dtype = text;
      return enter(Place::entry);
    }
    if (place == Place::metadataValue) {
      metadata[current] = text;
      return enter(Place::metadata);
    }
    return unexpected("a string");
  }

  bool number_unsigned(uint64_t value) override {
    if (place == Place::offsets) {
      if (entries.back().offsets.size() == 2)
        return stop(described(entries.back().name) + " needs two data_offsets");
      entries.back().offsets.push_back(value);
      return true;
    }
    if (place == Place::shape) {
      std::vector<int64_t> &shape = entries.back().shape;
      if (value > static_cast<uint64_t>(INT64_MAX))
        return stop(described(entries.back().name) + " has a dimension of " +
                    std::to_string(value));
      if (shape.size() == maxRank)
        return stop(described(entries.back().name) + " has more than " +
                    std::to_string(maxRank) + " dimensions");
      shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    return unexpected("a number");
  }

  bool number_integer(int64_t) override {
    return unexpected("a negative number");
  }
  bool number_float(double, const std::string &text) override {
    return unexpected(("the number " + printable(text)).c_str());
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool binary(json::binary_t &) override { return unexpected("binary data"); }

  bool parse_error(size_t position, const std::string &token,
                   const json::exception &) override {
    return stop("it is not JSON at byte " + std::to_string(position) +
                ", near '" + printable(token) + "'");
  }

private:
  enum class Place {
    start,
    top,
    entryStart,
    entry,
    dtype,
    shapeStart,
    shape,
    offsetsStart,
    offsets,
    metadataStart,
    metadata,
    metadataValue,
    end
  };

  bool enter(Place next) {
    place = next;
    return true;
  }

  bool stop(std::string text) {
    if (fault.empty())
      fault = std::move(text);
    return false;
  }

  bool unexpected(const char *what) {
    std::string where =
        entries.empty() ? "" : " after " + described(entries.back().name);
    return stop(std::string("it holds ") + what +
                " in a place where the format has none" + where);
  }

  bool topKey(const std::string &text) {
    if (!names.insert(text).second)
      return stop(described(text) + " occurs twice");
    if (text == metadataKey)
      return enter(Place::metadataStart);
    entries.emplace_back().name = text;
    return enter(Place::entryStart);
  }

  bool entryKey(const std::string &text) {
    Entry &entry = entries.back();
    bool *seen = text == "dtype"          ? &entry.hasDtype
                 : text == "shape"        ? &entry.hasShape
                 : text == "data_offsets" ? &entry.hasOffsets
                                          : nullptr;
    if (!seen)
      return stop(described(entry.name) + " has the unknown field \"" +
                  printable(text) + "\"");
    if (std::exchange(*seen, true))
      return stop(described(entry.name) + " has the field \"" + text +
                  "\" twice");
    return enter(text == "dtype"   ? Place::dtype
                 : text == "shape" ? Place::shapeStart
                                   : Place::offsetsStart);
  }

  Place place = Place::start;
  std::string current;
  std::set<std::string> names;
};

/// Checks that the entry's offsets follow the previous entry's and that dtype
/// and shape need just that many bytes; returns the dtype.
runtime::DType checkEntry(const Entry &entry, uint64_t expectedBegin,
                          const Source &source) {
  std::string who = described(entry.name);
  std::optional<runtime::DType> dtype = dtypeOfSafetensors(entry.dtype);
  if (!dtype)
    throw FileError(source.name(), who + " has the unsupported dtype \"" +
                                       printable(entry.dtype) + "\"");
  who += ", " + typeText(*dtype, entry.shape) + ",";
  std::optional<uint64_t> size = checkedByteSize(entry.shape, *dtype);
  if (!size)
    throw FileError(source.name(), who + " is too large");
  uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end || end - begin != *size)
    throw FileError(source.name(), who + " does not fit its data_offsets " +
                                       std::to_string(begin) + " to " +
                                       std::to_string(end));
  if (begin != expectedBegin)
    throw FileError(source.name(),
                    who + " begins at byte " + std::to_string(begin) +
                        " of the data, but the tensor before it ends at " +
                        std::to_string(expectedBegin));
  return *dtype;
}

} // namespace

SafetensorsFile readSafetensors(const Source &source) {
  uint64_t headerSize = 0;
  if (source.size() < sizeof headerSize)
    throw FileError(source.name(), "it is too short to be a safetensors file");
  source.read(0, &headerSize, sizeof headerSize);
  uint64_t rest = source.size() - sizeof headerSize;
  if (headerSize > maxHeader || headerSize > rest)
    throw FileError(
        source.name(),
        "it is no safetensors file, or cut off: its header would be " +
            std::to_string(headerSize) + " bytes long");
  std::string text(headerSize, '\0');
  source.read(sizeof headerSize, text.data(), headerSize);

  HeaderReader header;
  if (!json::sax_parse(text, &header))
    throw FileError(source.name(), "the header is malformed: " +
                                       (header.fault.empty() ? "it is not JSON"
                                                             : header.fault));

  std::sort(header.entries.begin(), header.entries.end(),
            [](const Entry &a, const Entry &b) {
              return std::tie(a.offsets, a.name) < std::tie(b.offsets, b.name);
            });
  uint64_t dataSize = rest - headerSize, position = 0;
  std::vector<runtime::DType> dtypes;
  for (const Entry &entry : header.entries) {
    dtypes.push_back(checkEntry(entry, position, source));
    position = entry.offsets[1];
  }
  if (position != dataSize)
    throw FileError(source.name(), "the tensors need " +
                                       std::to_string(position) +
                                       " bytes of data, but the file has " +
                                       std::to_string(dataSize));

  // Memory is asked for only now that the whole header is known to be sound.
  SafetensorsFile file{{}, std::move(header.metadata)};
  for (size_t i = 0; i < dtypes.size(); ++i) {
    Entry &entry = header.entries[i];
    size_t size = entry.offsets[1] - entry.offsets[0];
    RawTensor tensor{std::move(entry.name), dtypes[i], std::move(entry.shape),
                     Bytes::allocate(size)};
    source.read(sizeof headerSize + headerSize + entry.offsets[0],
                tensor.bytes.data.get(), size);
    tensor.normaliseBooleans();
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

SafetensorsFile readSafetensors(const std::filesystem::path &path) {
  return readSafetensors(*openFile(path));
}

void writeSafetensors(const std::filesystem::path &path,
                      std::span<const RawTensor> tensors,
                      const std::map<std::string, std::string> &metadata) {
  std::string file = path.string();
  std::vector<std::pair<size_t, const RawTensor *>> order;
  for (const RawTensor &tensor : tensors) {
    tensor.check(file);
    if (safetensorsName(tensor.dtype).empty())
      throw FileError(file, "safetensors has no dtype for " +
                                described(tensor.name) + ", which is " +
                                typeText(tensor.dtype, tensor.shape));
    order.emplace_back(runtime::bytesOf(tensor.dtype), &tensor);
  }
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first
                              : a.second->name < b.second->name;
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header[metadataKey] = metadata;
  std::set<std::string> names{metadataKey};
  uint64_t position = 0;
  for (const auto &[size, tensor] : order) {
    if (!names.insert(tensor->name).second)
      throw FileError(file,
                      described(tensor->name) +
                          " occurs twice, or has the name of the metadata");
    uint64_t end = position + tensor->bytes.size;
    // ordered_json searches linearly for a key, so the checked name is
    // appended.
    header.get_ref<nlohmann::ordered_json::object_t &>().emplace_back(
        tensor->name,
        nlohmann::ordered_json{{"dtype", safetensorsName(tensor->dtype)},
                               {"shape", tensor->shape},
                               {"data_offsets", {position, end}}});
    position = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception &) {
    throw FileError(file, "a name or the metadata is not valid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8,
              ' '); // keeps the data aligned to 8 bytes
  if (text.size() > maxHeader)
    throw FileError(file, "the names and shapes need a header of more than 100 "
                          "MB, which readers refuse");

  uint64_t headerSize = text.size();
  std::vector<std::span<const std::byte>> pieces{
      std::as_bytes(std::span(&headerSize, 1)), asBytes(text)};
  for (const auto &[size, tensor] : order)
    pieces.emplace_back(tensor->bytes.data.get(), tensor->bytes.size);
  writeFile(path, pieces);
}

} // namespace tessera::io
