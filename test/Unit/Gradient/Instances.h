// Programs of one op each, on which that op's derivatives are checked.
#ifndef TESSERA_TEST_UNIT_GRADIENT_INSTANCES_H
#define TESSERA_TEST_UNIT_GRADIENT_INSTANCES_H

namespace tessera::gradient {

/// A module in text. Each function holds an op under test, and nothing else. Of
/// an argument `test.range` and `test.values` say what it is drawn from,
/// `test.fixed` that it is not varied. Of a function `test.step` is the step of
/// finite differences, and `test.tolerance` how far a derivative may be from
/// them.
extern const char *const instances;

} // namespace tessera::gradient

#endif
