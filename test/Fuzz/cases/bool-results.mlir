// A bool that is returned twice carries no cotangents back
// RUN: tessera-fuzz %s

func.func @main(%a: tensor<1x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xi1>, tensor<1x3xi1>, tensor<1x3xf32>) attributes {fuzz.gradient} {
  %0 = tessera.compare ge, %a, %b : tensor<1x3xf32> -> tensor<1x3xi1>
  %1 = tessera.mul %a, %b : tensor<1x3xf32>
  return %0, %0, %1 : tensor<1x3xi1>, tensor<1x3xi1>, tensor<1x3xf32>
}
