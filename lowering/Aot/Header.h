// The C header of a program that is compiled ahead of time.
#ifndef TESSERA_LOWERING_AOT_HEADER_H
#define TESSERA_LOWERING_AOT_HEADER_H

#include "lowering/Aot/Object.h"

namespace tessera::lowering {

/// The header's text: self-contained C99, which C++ takes too.
std::string headerOf(const AotProgram &program, const AotOptions &options);

} // namespace tessera::lowering

#endif
