// Programs on which derivatives are checked.
#ifndef TESSERA_TEST_UNIT_GRADIENT_INSTANCES_H
#define TESSERA_TEST_UNIT_GRADIENT_INSTANCES_H

namespace tessera::gradient {

/// Modules in text. Each function holds an op under test, and nothing else. Of
/// an argument `test.range` and `test.values` say what it is drawn from,
/// `test.fixed` that it is not varied. Of a function `test.step` is the step of
/// finite differences, and `test.tolerance` how far a derivative may be from
/// them.
extern const char *const elementwiseInstances, *const movingInstances,
                                                   *const combiningInstances;

/// Functions of several ops.
extern const char *const programs;

} // namespace tessera::gradient

#endif
