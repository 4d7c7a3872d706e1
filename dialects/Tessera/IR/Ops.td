// All op records of the dialect.
include "dialects/Tessera/IR/ElementwiseOps.td"
include "dialects/Tessera/IR/ShapeOps.td"
include "dialects/Tessera/IR/ReductionOps.td"
include "dialects/Tessera/IR/KernelOps.td"
