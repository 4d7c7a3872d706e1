// Programs that users write, in the trace stage.
#ifndef TESSERA_TEST_UNIT_LOWERING_PROGRAMS_H
#define TESSERA_TEST_UNIT_LOWERING_PROGRAMS_H

#include <string>
#include <vector>

namespace tessera::test {

struct Program {
  std::string name, trace;
};

/// Elementwise, softmax, a dense layer, a training step with gradients and an
/// optimiser, several results, random bits.
const std::vector<Program> &programs();

} // namespace tessera::test

#endif
