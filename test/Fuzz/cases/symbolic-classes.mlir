// The number of classes is compared with labels of a type that holds it
// RUN: tessera-fuzz %s --seed=118389


func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %0 = tessera.cross_entropy %arg0, %arg2 : tensor<2xf32>, tensor<i32> -> tensor<f32>
  return %0, %arg1 : tensor<f32>, tensor<f32>
}
