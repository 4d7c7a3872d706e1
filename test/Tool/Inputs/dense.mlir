// A dense layer: relu(x w + b), and the sum of its squares as a loss.
module attributes {tessera.stage = "trace", tessera.version = 1 : i64} {
  func.func @main(%arg0: tensor<3x4xf32> {tessera.name = "x"},
                  %arg1: tensor<4x5xf32> {tessera.name = "w"},
                  %arg2: tensor<5xf32> {tessera.name = "b"})
      -> (tensor<f32> {tessera.name = "loss"}, tensor<3x5xf32> {tessera.name = "y"}) {
    %0 = tessera.dot_general %arg0, %arg1 {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %1 = tessera.broadcast %arg2 {dims = array<i64: 1>} : tensor<5xf32> -> tensor<3x5xf32>
    %2 = tessera.add %0, %1 : tensor<3x5xf32>
    %3 = tessera.constant 0.0 : f32 : tensor<3x5xf32>
    %4 = tessera.max %2, %3 : tensor<3x5xf32>
    %5 = tessera.mul %4, %4 : tensor<3x5xf32>
    %6 = tessera.reduce sum, %5 {dims = array<i64: 0, 1>} : tensor<3x5xf32> -> tensor<f32>
    return %6, %4 : tensor<f32>, tensor<3x5xf32>
  }
}
