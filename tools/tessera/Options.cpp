// Parses flags, and says which flag was meant.
#include "tools/tessera/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace llvm::opt;

namespace tessera::tool {

namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "tools/tessera/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/tessera/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

// The visibilities of Options.td, in its order.
enum : unsigned {
  Compile = 1u << 4,
  Run = 1u << 5,
  Bench = 1u << 6,
  Explain = 1u << 7,
  Cache = 1u << 8,
  Devices = 1u << 9
};

constexpr OptTable::Info kInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/tessera/Options.inc"
#undef OPTION
};

class Table : public GenericOptTable {
public:
  Table()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable,
                        ArrayRef<Info>(kInfos)) {}
};

const Table &table() {
  static const Table *instance = new Table;
  return *instance;
}

InputArgList parse(const Command &command, ArrayRef<const char *> words) {
  unsigned missingIndex = 0, missingCount = 0;
  Visibility mask(command.visibility);
  InputArgList list =
      table().ParseArgs(words, missingIndex, missingCount, mask);
  if (missingCount > 0)
    failUsage(Twine(list.getArgString(missingIndex)) + " needs a value");
  for (const Arg *unknown : list.filtered(OPT_UNKNOWN)) {
    std::string text = unknown->getAsString(list), nearest;
    StringRef flag = StringRef(text).split('=').first;
    unsigned distance = table().findNearest(text, nearest, mask);
    StringRef known = StringRef(nearest).split('=').first;
    if (known == flag)
      failUsage(flag + " takes no value");
    std::string hint;
    if (distance <= std::max<size_t>(2, flag.size() / 3))
      hint = (". Did you mean " + known + "?").str();
    failUsage("tessera " + Twine(command.name) + " has no flag " + flag + hint);
  }
  for (const Arg *given : list)
    for (StringRef value : given->getValues())
      if (value.empty() && given->getOption().getID() != OPT_INPUT)
        failUsage(StringRef(given->getSpelling()).rtrim('=') +
                  " needs a value");
  return list;
}

} // namespace

[[noreturn]] void fail(const Twine &text, int code) {
  throw Failure{code, ("tessera: error: " + text).str()};
}

[[noreturn]] void failUsage(const Twine &text) {
  throw Failure{kUsageError, ("tessera: error: " + text +
                              "\n(tessera --help lists the "
                              "commands, tessera COMMAND --help "
                              "their flags)")
                                 .str()};
}

[[noreturn]] void fail(Error error) {
  std::string text = toString(std::move(error));
  fail(text, isInternal(text) ? kInternalError : kUserError);
}

bool isInternal(StringRef text) {
  constexpr StringLiteral kBegin = "internal error: ";
  return any_of(split(text, '\n'),
                [&](StringRef line) { return line.starts_with(kBegin); });
}

std::string suggestion(StringRef text, ArrayRef<StringRef> candidates) {
  StringRef nearest;
  unsigned best = std::max<size_t>(2, text.size() / 3) + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = text.edit_distance(candidate, true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : (". Did you mean " + nearest + "?").str();
}

Arguments::Arguments(const Command &command, int argc, const char *const *argv)
    : list(parse(command, ArrayRef(argv, size_t(argc)))) {}

std::string Arguments::text(Option option, StringRef otherwise) const {
  return list.getLastArgValue(option, otherwise).str();
}

/// "--emit" of "--emit=".
static std::string flagName(Option option) {
  return table().getOptionPrefixedName(option).rtrim('=').str();
}

void Arguments::refuse(ArrayRef<Option> options, const Twine &where) const {
  for (Option option : options)
    if (has(option))
      failUsage(flagName(option) + " has no meaning " + where);
}

std::string Arguments::oneOf(Option option, ArrayRef<StringRef> allowed) const {
  std::string value = text(option);
  if (value.empty() || is_contained(allowed, value))
    return value;
  failUsage(flagName(option) + " is '" + value + "', and not one of " +
            join(allowed, ", ") + suggestion(value, allowed));
}

int64_t Arguments::integer(Option option, int64_t least, int64_t most,
                           int64_t otherwise) const {
  if (!list.hasArg(option))
    return otherwise;
  std::string value = text(option);
  int64_t number;
  if (StringRef(value).getAsInteger(10, number) || number < least ||
      number > most)
    failUsage(flagName(option) + " is '" + value +
              "', and not a whole number from " + Twine(least) + " to " +
              Twine(most));
  return number;
}

double Arguments::number(Option option, double otherwise) const {
  if (!list.hasArg(option))
    return otherwise;
  std::string value = text(option);
  double number;
  if (StringRef(value).getAsDouble(number) || !(number >= 0) ||
      std::isinf(number))
    failUsage(flagName(option) + " is '" + value +
              "', and not a number of at least 0");
  return number;
}

std::vector<std::string> Arguments::parts(Option option) const {
  std::vector<std::string> parts;
  for (const std::string &value : list.getAllArgValues(option))
    for (StringRef part : split(value, ','))
      if (!part.trim().empty())
        parts.push_back(part.trim().str());
  if (parts.empty() && has(option))
    failUsage(flagName(option) + " names nothing");
  return parts;
}

std::map<std::string, std::string> Arguments::assignments(Option option) const {
  std::map<std::string, std::string> result;
  for (const std::string &value : list.getAllArgValues(option)) {
    auto [name, assigned] = StringRef(value).split('=');
    if (name.empty() || assigned.empty())
      failUsage(flagName(option) + " is '" + value +
                "', and not of the form NAME=VALUE");
    if (!result.try_emplace(name.str(), assigned.str()).second)
      failUsage(flagName(option) + " names '" + name + "' twice");
  }
  return result;
}

std::string Arguments::file() const {
  std::vector<std::string> files = list.getAllArgValues(OPT_INPUT);
  if (files.empty())
    failUsage("which program? Give its file, or - for the standard input");
  if (files.size() > 1)
    failUsage("one program at a time: " + files[0] + " and " + files[1] +
              " are two");
  return files.front();
}

void Arguments::noFile() const {
  for (const std::string &file : list.getAllArgValues(OPT_INPUT))
    failUsage("'" + file + "' is not expected here");
}

//===-- Help and completion --===//

// In each command's file.
int runCompile(const Arguments &);
int runRun(const Arguments &);
int runBench(const Arguments &);
int runExplain(const Arguments &);
int runCache(const Arguments &);
int runDevices(const Arguments &);

ArrayRef<Command> commands() {
  static constexpr Command all[] = {
      {"compile", "tessera compile [FLAGS] FILE.mlir -o FILE",
       "compile a program ahead of time, or to any stage", Compile, runCompile},
      {"run", "tessera run [FLAGS] FILE.mlir",
       "compute a program once, print or compare its results", Run, runRun},
      {"bench", "tessera bench [FLAGS] FILE.mlir",
       "measure how long a call takes", Bench, runBench},
      {"explain", "tessera explain [FLAGS] FILE.mlir",
       "say what became of a program: stages, fusion, memory, kernels", Explain,
       runExplain},
      {"cache", "tessera cache [FLAGS]",
       "say what the cache of compiled code holds, or clear it", Cache,
       runCache},
      {"devices", "tessera devices [FLAGS]",
       "list where programs can be computed", Devices, runDevices}};
  return all;
}

void printHelp(const Command &command) {
  outs() << "tessera " << command.name << ": " << command.summary
         << "\n\nusage: " << command.usage << "\n\n";
  std::vector<std::pair<std::string, StringRef>> lines;
  for (unsigned id = OPT_UNKNOWN + 1; id <= std::size(kInfos); ++id) {
    const OptTable::Info &info = kInfos[id - 1];
    if (!(info.Visibility & command.visibility) || !info.HelpText)
      continue;
    StringRef help =
        table().getOptionHelpText(id, Visibility(command.visibility));
    std::string name = table().getOptionPrefixedName(id).str();
    if (info.MetaVar)
      name += std::string(name.back() == '=' ? "" : " ") + info.MetaVar;
    lines.push_back({name, help});
  }
  constexpr size_t kColumn = 26, kWidth = 80;
  for (auto &[name, help] : lines) {
    outs() << "  " << name;
    size_t column = 2 + name.size();
    if (column + 2 > kColumn) {
      outs() << "\n";
      column = 0;
    }
    outs().indent(kColumn - column);
    column = kColumn;
    SmallVector<StringRef> words;
    help.split(words, ' ');
    for (StringRef word : words) {
      if (column + word.size() + 1 > kWidth) {
        outs() << "\n";
        outs().indent(kColumn);
        column = kColumn;
      }
      outs() << (column > kColumn ? " " : "") << word;
      column += word.size() + (column > kColumn);
    }
    outs() << "\n";
  }
}

void printOverview() {
  outs() << "tessera: compiles, runs and explains tensor programs\n\n"
            "usage: tessera COMMAND [FLAGS] [FILE]\n\n";
  for (const Command &command : commands()) {
    outs() << "  " << command.name;
    outs().indent(unsigned(12 - StringRef(command.name).size()))
        << command.summary << "\n";
  }
  outs() << "\n  tessera COMMAND --help   the flags of a command\n"
            "  tessera --version        the version\n"
            "  tessera --completion     a script for bash: source "
            "<(tessera --completion)\n\n"
            "Exit codes: 0 ok, 1 an error in the program or its files, 2 in "
            "the flags,\n3 results that differ from --expect, 4 unsupported "
            "operations, 70 an internal error.\n";
}

const char *const kBashCompletion =
    R"(_tessera() {
  local IFS=$'\n'
  COMPREPLY=($(tessera --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}
complete -o default -F _tessera tessera
)";

int complete(ArrayRef<const char *> words) {
  StringRef last = words.empty() ? "" : words.back();
  if (words.size() <= 1) {
    for (const Command &command : commands())
      if (StringRef(command.name).starts_with(last))
        outs() << command.name << "\n";
    return kOk;
  }
  for (const Command &command : commands()) {
    if (words.front() != StringRef(command.name) || !last.starts_with("-"))
      continue;
    auto [flag, value] = last.split('=');
    if (last.contains('=')) {
      for (const std::string &found :
           table().suggestValueCompletions(flag.str() + "=", value))
        outs() << flag << "=" << found << "\n";
      continue;
    }
    for (const std::string &found : table().findByPrefix(
             last, Visibility(command.visibility), /*DisableFlags=*/0))
      outs() << StringRef(found).split('\t').first << "\n";
  }
  return kOk;
}

} // namespace tessera::tool
