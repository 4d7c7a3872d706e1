// The encoding of program entries as JSON, whose parser checks what it reads.
#include "lowering/ProgramCache.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace tessera::lowering {

std::string encodeProgram(const ProgramEntry &entry) {
  json::Array launches;
  for (const PlanLaunch &launch : entry.plan.launches) {
    json::Array buffers;
    for (const BufferRef &ref : launch.buffers)
      buffers.push_back(json::Array{int64_t(ref.kind), ref.index, ref.offset});
    launches.push_back(json::Object{{"symbol", launch.symbol},
                                    {"tiles", launch.tiles},
                                    {"place", launch.place},
                                    {"buffers", std::move(buffers)}});
  }
  json::Object program{{"arena", entry.plan.arenaBytes},
                       {"launches", std::move(launches)},
                       {"aliases", json::Array(entry.plan.aliases)},
                       {"kernels", json::Array(entry.kernelKeys)}};
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(program));
  return text;
}

static bool decode(const json::Value &value, BufferRef &ref) {
  const json::Array *parts = value.getAsArray();
  if (!parts || parts->size() != 3)
    return false;
  auto kind = (*parts)[0].getAsInteger(), index = (*parts)[1].getAsInteger(),
       offset = (*parts)[2].getAsInteger();
  if (!kind || (*kind != 0 && *kind != 1) || !index || *index < 0 || !offset ||
      *offset < 0)
    return false;
  ref = {BufferRef::Kind(*kind), *index, *offset};
  return true;
}

static bool decode(const json::Value &value, PlanLaunch &launch) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return false;
  auto symbol = object->getString("symbol");
  auto tiles = object->getInteger("tiles");
  auto place = object->getString("place");
  const json::Array *buffers = object->getArray("buffers");
  if (!symbol || !tiles || !place || !buffers)
    return false;
  launch.symbol = symbol->str();
  launch.place = place->str();
  launch.tiles = *tiles;
  launch.buffers.resize(buffers->size());
  return all_of(zip(*buffers, launch.buffers), [](auto pair) {
    return decode(std::get<0>(pair), std::get<1>(pair));
  });
}

std::optional<ProgramEntry> decodeProgram(StringRef bytes) {
  Expected<json::Value> value = json::parse(bytes);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  if (!object)
    return std::nullopt;
  auto arena = object->getInteger("arena");
  const json::Array *launches = object->getArray("launches"),
                    *kernels = object->getArray("kernels"),
                    *aliases = object->getArray("aliases");
  if (!arena || *arena < 0 || !launches || !kernels || !aliases)
    return std::nullopt;
  ProgramEntry entry;
  entry.plan.arenaBytes = *arena;
  entry.plan.launches.resize(launches->size());
  for (auto [from, to] : zip(*launches, entry.plan.launches))
    if (!decode(from, to))
      return std::nullopt;
  for (const json::Value &value : *aliases) {
    auto alias = value.getAsInteger();
    if (!alias || *alias < -1)
      return std::nullopt;
    entry.plan.aliases.push_back(*alias);
  }
  for (const json::Value &key : *kernels) {
    auto text = key.getAsString();
    if (!text)
      return std::nullopt;
    entry.kernelKeys.push_back(text->str());
  }
  return entry;
}

} // namespace tessera::lowering
