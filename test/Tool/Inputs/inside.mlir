// A layer whose weights are in the file.
module attributes {tessera.stage = "trace", tessera.version = 1 : i64, tessera.weights = {w = dense_resource<w> : tensor<2x2xf32>}} {
  func.func @main(%x: tensor<2xf32> {tessera.name = "x"}, %w: tensor<2x2xf32> {tessera.name = "w", tessera.weight}) -> (tensor<2xf32> {tessera.name = "y"}) {
    %0 = tessera.broadcast %x {dims = array<i64: 1>} : tensor<2xf32> -> tensor<2x2xf32>
    %1 = tessera.mul %0, %w : tensor<2x2xf32>
    %2 = tessera.reduce sum, %1 {dims = array<i64: 1>} : tensor<2x2xf32> -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x080000000000803F000000400000404000008040"
    }
  }
#-}
