// LLVM's assembler, on text in memory.
#include "lowering/CodeGen/Assemble.h"
#include "lowering/CodeGen/Optimize.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace tessera::lowering {

Expected<std::string> assemble(MemoryBufferRef text, const TargetInfo &info) {
  Expected<const Target *> found = llvmTargetOf(info);
  if (!found)
    return found.takeError();
  const Target &target = **found;
  Triple triple(info.triple);
  SourceMgr sources;
  std::string errors;
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *to) {
        raw_string_ostream os(*static_cast<std::string *>(to));
        diagnostic.print(nullptr, os, /*ShowColors=*/false);
      },
      &errors);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(
                                 text.getBuffer(), text.getBufferIdentifier()),
                             SMLoc());
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target.createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target.createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(triple, info.cpu, info.features));
  std::unique_ptr<MCInstrInfo> instructions(target.createMCInstrInfo());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(),
                    &sources, &options);
  std::unique_ptr<MCObjectFileInfo> sections(
      target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  SmallString<0> object;
  raw_svector_ostream os(object);
  std::unique_ptr<MCAsmBackend> backend(
      target.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(os);
  std::unique_ptr<MCCodeEmitter> emitter(
      target.createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) || !errors.empty())
    return createStringError(StringRef(errors).rtrim());
  return object.str().str();
}

} // namespace tessera::lowering
