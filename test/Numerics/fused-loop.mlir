// Programs that become one loop kernel, or several outputs of one
// RUN: tessera-numerics %s

func.func @several_outputs(%x: tensor<33x7xf32>, %y: tensor<7xf32>) -> (tensor<33x7xf32>, tensor<33x7xf32>, tensor<33x7xi1>)
    attributes {test.types = [f64, f16, bf16, i32]} {
  %0 = tessera.broadcast %y {dims = array<i64: 1>} : tensor<7xf32> -> tensor<33x7xf32>
  %1 = tessera.add %x, %0 : tensor<33x7xf32>
  %2 = tessera.mul %1, %x : tensor<33x7xf32>
  %3 = tessera.compare lt, %2, %1 : tensor<33x7xf32> -> tensor<33x7xi1>
  %4 = tessera.select %3, %1, %2 : tensor<33x7xi1>, tensor<33x7xf32>
  return %1, %4, %3 : tensor<33x7xf32>, tensor<33x7xf32>, tensor<33x7xi1>
}

func.func @no_contraction(%a: tensor<301xf32>, %b: tensor<301xf32>, %c: tensor<301xf32>) -> tensor<301xf32>
    attributes {test.types = [f64, f16, bf16]} {
  %0 = tessera.mul %a, %b : tensor<301xf32>
  %1 = tessera.add %0, %c : tensor<301xf32>
  return %1 : tensor<301xf32>
}

func.func @through_views(%x: tensor<6x10xf32>) -> tensor<12x5xf32>
    attributes {test.types = [f64, f16, bf16, i64]} {
  %0 = tessera.neg %x : tensor<6x10xf32>
  %1 = tessera.transpose %0 {permutation = array<i64: 1, 0>} : tensor<6x10xf32> -> tensor<10x6xf32>
  %2 = tessera.slice %1 {starts = array<i64: 9, 0>, strides = array<i64: -1, 1>} : tensor<10x6xf32> -> tensor<10x6xf32>
  %3 = tessera.add %1, %2 : tensor<10x6xf32>
  %4 = tessera.reshape %3 : tensor<10x6xf32> -> tensor<12x5xf32>
  %5 = tessera.abs %4 : tensor<12x5xf32>
  return %5 : tensor<12x5xf32>
}

func.func @argument_and_twice(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = tessera.add %x, %x : tensor<5xf32>
  return %x, %0, %0 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
