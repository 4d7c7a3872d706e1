// A sum over all of them.
module attributes {tessera.stage = "trace"} {
  func.func @main(%x: tensor<?x4xf32> {tessera.name = "x", tessera.symbols = ["batch", ""]},
                  %w: tensor<4xf32> {tessera.name = "w"}) -> (tensor<f32> {tessera.name = "loss"}) {
    %0 = tessera.broadcast %w {dims = array<i64: 1>} : tensor<4xf32> -> tensor<?x4xf32>
    %1 = tessera.mul %x, %0 : tensor<?x4xf32>
    %2 = tessera.reduce sum, %1 {dims = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
    return %2 : tensor<f32>
  }
}
