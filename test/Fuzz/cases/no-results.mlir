// A column reduction to no results
// RUN: tessera-fuzz %s

func.func @main(%x: tensor<0x97x97xf32>) -> tensor<257x257x0x97x97xf32> attributes {fuzz.gradient} {
  %0 = tessera.broadcast %x {dims = array<i64: 2, 3, 4>} : tensor<0x97x97xf32> -> tensor<257x257x0x97x97xf32>
  return %0 : tensor<257x257x0x97x97xf32>
}
