// The encoding of program entries as JSON, whose parser checks what it reads.
#include "lowering/ProgramCache.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using tessera::runtime::SizeFormula;

namespace tessera::lowering {

static json::Array encode(const std::vector<SizeFormula::Term> &terms) {
  json::Array list;
  for (const SizeFormula::Term &term : terms)
    list.push_back(json::Array{term.symbol, term.times, term.coefficient,
                               term.plus, term.divisor});
  return list;
}

/// A list of integers.
static bool decode(const json::Value *value, std::vector<int64_t> &numbers) {
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (!list)
    return false;
  for (const json::Value &item : *list) {
    auto number = item.getAsInteger();
    if (!number)
      return false;
    numbers.push_back(*number);
  }
  return true;
}

static bool decode(const json::Value *value,
                   std::vector<SizeFormula::Term> &terms) {
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (!list)
    return false;
  for (const json::Value &item : *list) {
    std::vector<int64_t> numbers;
    if (!decode(&item, numbers) || numbers.size() != 5 || numbers[0] < 0 ||
        numbers[4] <= 0)
      return false;
    terms.push_back(
        {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]});
  }
  return true;
}

std::string encodeProgram(const ProgramEntry &entry) {
  json::Array launches;
  for (const PlanLaunch &launch : entry.plan.launches) {
    json::Array buffers;
    for (const BufferRef &ref : launch.buffers)
      buffers.push_back(json::Array{int64_t(ref.kind), ref.index, ref.offset,
                                    json::Array(ref.per)});
    launches.push_back(json::Object{{"symbol", launch.symbol},
                                    {"tiles", launch.tiles},
                                    {"terms", encode(launch.tileTerms)},
                                    {"buffers", std::move(buffers)}});
  }
  json::Array workspaces;
  for (const SizeFormula &formula : entry.plan.workspaces)
    workspaces.push_back(json::Array{formula.constant, encode(formula.terms)});
  json::Object program{{"arena", entry.plan.arenaBytes},
                       {"per", json::Array(entry.plan.arenaPer)},
                       {"workspaces", std::move(workspaces)},
                       {"symbols", entry.plan.symbols},
                       {"numBuffers", entry.plan.numBuffers},
                       {"launches", std::move(launches)},
                       {"aliases", json::Array(entry.plan.aliases)},
                       {"kernels", json::Array(entry.kernelKeys)}};
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(program));
  return text;
}

static bool decode(const json::Value &value, BufferRef &ref) {
  const json::Array *parts = value.getAsArray();
  if (!parts || parts->size() != 4 || !decode(&(*parts)[3], ref.per))
    return false;
  auto kind = (*parts)[0].getAsInteger(), index = (*parts)[1].getAsInteger(),
       offset = (*parts)[2].getAsInteger();
  if (!kind || *kind < 0 || *kind > 2 || !index || *index < 0 || !offset ||
      *offset < 0)
    return false;
  ref.kind = BufferRef::Kind(*kind);
  ref.index = *index;
  ref.offset = *offset;
  return true;
}

static bool decode(const json::Value &value, PlanLaunch &launch) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return false;
  auto symbol = object->getString("symbol");
  auto tiles = object->getInteger("tiles");
  const json::Array *buffers = object->getArray("buffers");
  if (!symbol || !tiles || !buffers ||
      !decode(object->get("terms"), launch.tileTerms))
    return false;
  launch.symbol = symbol->str();
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
  auto symbols = object->getInteger("symbols"),
       numBuffers = object->getInteger("numBuffers");
  const json::Array *workspaces = object->getArray("workspaces");
  if (!symbols || *symbols < 0 || !numBuffers || *numBuffers < 0 ||
      !workspaces || !decode(object->get("per"), entry.plan.arenaPer))
    return std::nullopt;
  entry.plan.symbols = *symbols;
  entry.plan.numBuffers = *numBuffers;
  for (const json::Value &value : *workspaces) {
    const json::Array *parts = value.getAsArray();
    SizeFormula &formula = entry.plan.workspaces.emplace_back();
    if (!parts || parts->size() != 2 || !(*parts)[0].getAsInteger() ||
        !decode(&(*parts)[1], formula.terms))
      return std::nullopt;
    formula.constant = *(*parts)[0].getAsInteger();
  }
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
