// The mean of eight numbers.
module attributes {tessera.stage = "trace"} {
  func.func @main(%arg0: tensor<8xf32> {tessera.name = "numbers"}) -> (tensor<f32> {tessera.name = "mean"}) {
    %0 = tessera.reduce sum, %arg0 {dims = array<i64: 0>} : tensor<8xf32> -> tensor<f32>
    %1 = tessera.constant 0.125 : f32 : tensor<f32>
    %2 = tessera.mul %0, %1 : tensor<f32>
    return %2 : tensor<f32>
  }
}
