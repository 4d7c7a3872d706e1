// exp(x) * x, each op from a line of its own.
module attributes {tessera.stage = "trace"} {
  func.func @main(%arg0: tensor<64xf32> {tessera.name = "x"} loc("model.cpp":10:1)) -> (tensor<64xf32> {tessera.name = "y"}) {
    %0 = tessera.exp %arg0 : tensor<64xf32> loc("model.cpp":11:12)
    %1 = tessera.mul %0, %arg0 : tensor<64xf32> loc("model.cpp":12:14)
    return %1 : tensor<64xf32> loc("model.cpp":13:3)
  } loc("model.cpp":9:1)
} loc("model.cpp":1:1)
