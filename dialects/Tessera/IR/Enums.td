// Enumerations that ops carry as attributes.
#ifndef TESSERA_IR_ENUMS_TD
#define TESSERA_IR_ENUMS_TD

include "dialects/Tessera/IR/Base.td"

class Tessera_Enum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::tessera::ir";
  let genSpecializedAttr = 0;
}

def Tessera_Comparison : Tessera_Enum<"Comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Tessera_ComparisonAttr : EnumAttr<Tessera_Dialect, Tessera_Comparison, "comparison"> {
  let assemblyFormat = "$value";
}

def Tessera_Reduction : Tessera_Enum<"Reduction", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"argmax", 4>]>;
def Tessera_ReductionAttr : EnumAttr<Tessera_Dialect, Tessera_Reduction, "reduction"> {
  let assemblyFormat = "$value";
}

def Tessera_KernelKind : Tessera_Enum<"KernelKind", [
  I32EnumAttrCase<"loop", 0>, I32EnumAttrCase<"row_reduce", 1>, I32EnumAttrCase<"col_reduce", 2>,
  I32EnumAttrCase<"gemm", 3>]>;
def Tessera_KernelKindAttr : EnumAttr<Tessera_Dialect, Tessera_KernelKind, "kernel_kind"> {
  let assemblyFormat = "$value";
}

def Tessera_Space : Tessera_Enum<"Space", [I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"result", 1>]>;

/// Where the plan puts a kernel's output: so many bytes into the arena, or the buffer of that result.
def Tessera_PlaceAttr : AttrDef<Tessera_Dialect, "Place"> {
  let mnemonic = "place";
  let description = [{
    In a program of symbolic dimensions, `per` has what each symbol adds to the offset, times its size; the offset is
    then rounded down to a multiple of 64 bytes.
  }];
  let parameters = (ins EnumParameter<Tessera_Space>:$space, "int64_t":$offset,
                        OptionalArrayRefParameter<"int64_t">:$per);
  let assemblyFormat = "`<` $space `,` $offset (`,` `[` $per^ `]`)? `>`";
  let builders = [AttrBuilder<(ins "::tessera::ir::Space":$space, "int64_t":$offset), [{
    return $_get($_ctxt, space, offset, ::llvm::ArrayRef<int64_t>());
  }]>];
}

/// In files: what the `?` of a type is, if it is not the first symbol itself: `#tessera.extent<2 * s0 + 1>`.
def Tessera_ExtentAttr : AttrDef<Tessera_Dialect, "Extent"> {
  let mnemonic = "extent";
  let parameters = (ins "int64_t":$symbol, "int64_t":$coefficient, "int64_t":$constant);
  let hasCustomAssemblyFormat = 1;
}

#endif
