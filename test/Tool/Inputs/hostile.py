"""Writes program files that are wrong in every way that has a name into a folder: hostile.py DIR."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
SMALL = """module attributes {{tessera.stage = "trace"{module}}} {{
  func.func @main(%arg0: {type}{argument}) -> ({type}{result}) {{
    {ops}
    return %0 : {type}
  }}
}}
"""


def small(type="tensor<4xf32>", module="", argument="", result="", ops=None):
    ops = ops or f"%0 = tessera.exp %arg0 : {type}"
    return SMALL.format(type=type, module=module, argument=argument, result=result, ops=ops)


good = small()
FILES = {
    "empty": "",
    "no-main": "module {}\n",
    "text": "this is no program\n",
    "deep": "module " + "{" * 100000,
    "deep-types": "module attributes {a = " + "tuple<" * 50000 + "i1" + ">" * 50000 + "} {}",
    "deep-arrays": "module attributes {a = " + "[" * 5000 + "]" * 5000 + "} {}",
    "deep-locations": good + "#l = loc(" + "callsite(" * 3000,
    # Nesting and size that no bracket shows.
    "deep-aliases": "#a0 = [1]\n" + "".join(f"#a{i + 1} = [#a{i}]\n" for i in range(3000)) + "module {}\n",
    "deep-callsites": good + '#loc0 = loc("a":1:1)\n'
                      + "".join(f"#loc{i + 1} = loc(callsite(#loc{i} at #loc0))\n" for i in range(3000)),
    "deep-tuples": "!t0 = tuple<i1>\n" + "".join(f"!t{i + 1} = tuple<!t{i}>\n" for i in range(3000)) + "module {}\n",
    "alias-bomb": "#a0 = [" + "1, " * 50 + "1]\n"
                  + "".join(f"#a{i + 1} = [{', '.join([f'#a{i}'] * 50)}]\n" for i in range(9)) + "module {}\n",
    "cyclic-aliases": "#a = [#b]\n#b = [#a]\nmodule attributes {tessera.x = #a} {}\n",
    "cyclic-locations": good + "#loc1 = loc(callsite(#loc2 at #loc2))\n#loc2 = loc(callsite(#loc1 at #loc1))\n",
    "long-line": "// a comment\n" + "x" * (10 << 20),
    "zero-byte": "module \0{}",
    "not-utf8": good.replace("tessera.exp", "tessera.\u00e9xp"),
    "truncated": good[: len(good) // 2],
    "unclosed-string": good.replace('"trace"', '"trace'),
    "version": small(module=", tessera.version = 2 : i64"),
    "version-text": small(module=', tessera.version = "1"'),
    "stage": good.replace('"trace"', '"nothing"'),
    "stage-number": good.replace('"trace"', "1 : i64"),
    "unknown-op": small(ops='%0 = tessera.nothing %arg0 : tensor<4xf32>'),
    "unknown-ops": small(ops='%1 = "torch.aten.foo"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n'
                             '    %0 = "onnx.Bar"(%1) : (tensor<4xf32>) -> tensor<4xf32>'),
    "generic-unknown": small(ops='%0 = "tessera.nothing"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>'),
    "wrong-type": small(ops="%0 = tessera.exp %arg0 : tensor<5xf32>"),
    "wrong-operands": small(ops='%0 = "tessera.exp"() : () -> tensor<4xf32>'),
    "many-operands": small(ops='%0 = "tessera.add"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>'),
    "cycle": small(ops="%0 = tessera.exp %1 : tensor<4xf32>\n    %1 = tessera.exp %0 : tensor<4xf32>"),
    "undefined": small(ops="%0 = tessera.exp %nothing : tensor<4xf32>"),
    "memref": small(type="memref<4xf32>"),
    "unranked": small(type="tensor<*xf32>"),
    "complex": small(type="tensor<4xcomplex<f32>>"),
    "i7": small(type="tensor<4xi7>"),
    "huge": small(type="tensor<4611686018427387904x8xf32>"),
    "huge-result": small(ops="%1 = tessera.broadcast %arg0 {dims = array<i64: 0>} : tensor<4xf32> -> "
                             "tensor<4x4611686018427387904xf32>\n    %0 = tessera.slice %arg0 {starts = array<i64: 0>, "
                             "limits = array<i64: 4>, strides = array<i64: 1>} : tensor<4xf32> -> tensor<4xf32>"),
    "overflow": small(type="tensor<99999999999999999999999xf32>"),
    "negative": small(type="tensor<-4xf32>"),
    "two-names": good.replace("%arg0: tensor<4xf32>", '%arg0: tensor<4xf32> {tessera.name = "x"}, %arg1: tensor<4xf32> {tessera.name = "x"}'),
    "bad-name": small(argument=' {tessera.name = "a b"}'),
    "empty-name": small(argument=' {tessera.name = ""}'),
    "dot-name": small(argument=' {tessera.name = ".x"}'),
    "digit-name": small(result=' {tessera.name = "2y"}'),
    "number-name": small(argument=" {tessera.name = 5 : i64}"),
    "long-name": small(argument=' {tessera.name = "' + "a" * 1000 + '"}'),
    "updates": small(result=" {tessera.updates = 7 : i64}"),
    "updates-text": small(result=' {tessera.updates = "x"}'),
    "updates-negative": small(result=" {tessera.updates = -1 : i64}"),
    "weights-up": small(module=', tessera.weights = "../w.safetensors"'),
    "weights-root": small(module=', tessera.weights = "/w.safetensors"'),
    "weights-dots": small(module=', tessera.weights = ".."'),
    "weights-number": small(module=", tessera.weights = 1 : i64"),
    "two-functions": good.replace("}\n}", "}\n  func.func @main() { return }\n}"),
    "blocks": small(ops="cf.br ^bb1\n  ^bb1:\n    %0 = tessera.exp %arg0 : tensor<4xf32>"),
    "other-dialect": small(ops="%0 = arith.addf %arg0, %arg0 : tensor<4xf32>"),
    "bad-attribute": small(ops='%1 = tessera.transpose %arg0 {permutation = array<i64: 7>} : tensor<4xf32> -> tensor<4xf32>\n    %0 = tessera.exp %1 : tensor<4xf32>'),
    "bad-slice": small(ops='%0 = tessera.slice %arg0 {starts = array<i64: -9>, limits = array<i64: 4>, strides = array<i64: 0>} : tensor<4xf32> -> tensor<4xf32>'),
    "bad-place": good.replace('"trace"', '"plan"'),
    "alias": small(result=" {tessera.alias = 9 : i64}").replace('"trace"', '"plan"'),
}
for name, text in FILES.items():
    (folder / f"{name}.mlir").write_bytes(text.encode("latin-1" if name == "not-utf8" else "utf-8"))
(folder / "empty").mkdir(exist_ok=True)
