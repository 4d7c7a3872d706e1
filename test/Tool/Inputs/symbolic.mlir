// A dense layer for any number of images.
module attributes {tessera.stage = "trace"} {
  func.func @main(%arg0: tensor<?x4xf32> {tessera.name = "x", tessera.symbols = ["batch", ""]},
                  %arg1: tensor<4x3xf32> {tessera.name = "w"}) -> (tensor<?x3xf32> {tessera.name = "y"}) {
    %0 = tessera.dot_general %arg0, %arg1 {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %1 = tessera.exp %0 : tensor<?x3xf32>
    return %1 : tensor<?x3xf32>
  }
}
