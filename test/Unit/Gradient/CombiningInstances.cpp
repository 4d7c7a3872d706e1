// Instances of reductions, products and composites: of rank 0, without
// elements, with operands used twice.
#include "test/Unit/Gradient/Instances.h"

// clang-format off
const char *const tessera::gradient::combiningInstances = R"mlir(
func.func @reduce_sum_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_sum_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_prod_rows(%x: tensor<3x5xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_columns(%x: tensor<5x3xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_all(%x: tensor<2x3x2xf64> {test.range = [0.5, 2.0]}) -> tensor<f64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_prod_ends(%x: tensor<2x3x4xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_one(%x: tensor<3x1xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_none(%x: tensor<3xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_no_rows(%x: tensor<0x3xf64> {test.range = [0.5, 2.0]}) -> tensor<0xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_max_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_max_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_min_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_min_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_sum_of_nothing(%x: tensor<2x0xf64>) -> tensor<2xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<2x0xf64> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @reduce_prod_of_nothing(%x: tensor<2x0xf64>) -> tensor<2xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<2x0xf64> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @reduce_prod_zeros(%x: tensor<3x4xf64> {test.values = dense<[[0.0, 2.0, 3.0, 0.5], [1.0, 0.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<3x4xf64>}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_matmul(%a: tensor<3x4xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_transposed_a(%a: tensor<4x3xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4x3xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_transposed_b(%a: tensor<3x4xf64>, %b: tensor<2x4xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<3x4xf64>, tensor<2x4xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_batch(%a: tensor<2x3x4xf64>, %b: tensor<2x4x5xf64>) -> tensor<2x3x5xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>} : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @dot_batch_last(%a: tensor<3x4x2xf64>, %b: tensor<4x5x2xf64>) -> tensor<2x3x5xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 2>, b_batch = array<i64: 2>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4x2xf64>, tensor<4x5x2xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @dot_two_batches(%a: tensor<2x3x4x5xf64>, %b: tensor<3x2x5x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0, 1>, b_batch = array<i64: 1, 0>, a_contract = array<i64: 3>, b_contract = array<i64: 2>} : (tensor<2x3x4x5xf64>, tensor<3x2x5x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_two_contracted(%a: tensor<5x3x4xf64>, %b: tensor<3x4x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 0, 1>} : (tensor<5x3x4xf64>, tensor<3x4x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_crosswise(%a: tensor<5x3x4xf64>, %b: tensor<4x3x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 1, 0>} : (tensor<5x3x4xf64>, tensor<4x3x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_contracted_backwards(%a: tensor<5x3x4xf64>, %b: tensor<3x4x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2, 1>, b_contract = array<i64: 1, 0>} : (tensor<5x3x4xf64>, tensor<3x4x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_two_free(%a: tensor<2x3x5xf64>, %b: tensor<5x4x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2>, b_contract = array<i64: 0>} : (tensor<2x3x5xf64>, tensor<5x4x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_free_apart(%a: tensor<2x5x3xf64>, %b: tensor<4x5x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<2x5x3xf64>, tensor<4x5x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_matvec(%a: tensor<3x4xf64>, %b: tensor<4xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_vecmat(%a: tensor<4xf64>, %b: tensor<4x3xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4x3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_vecdot(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<f64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @dot_rowwise(%a: tensor<3x4xf64>, %b: tensor<3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_outer(%a: tensor<3xf64>, %b: tensor<4xf64>) -> tensor<3x4xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>} : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @dot_scalars(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>} : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @dot_no_terms(%a: tensor<3x0xf64>, %b: tensor<0x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x0xf64>, tensor<0x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_no_rows(%a: tensor<0x4xf64>, %b: tensor<4x2xf64>) -> tensor<0x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<0x4xf64>, tensor<4x2xf64>) -> tensor<0x2xf64>
  return %0 : tensor<0x2xf64>
}

func.func @dot_same(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = tessera.dot_general %x, %x {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

func.func @softmax_rows(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x5xf64> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @softmax_columns(%x: tensor<5x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<5x3xf64> {
  %0 = tessera.softmax %x {dim = 0 : i64} : tensor<5x3xf64> -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
}

func.func @softmax_middle(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}) -> tensor<2x3x4xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<2x3x4xf64> -> tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}

func.func @softmax_one(%x: tensor<3x1xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x1xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x1xf64> -> tensor<3x1xf64>
  return %0 : tensor<3x1xf64>
}

func.func @softmax_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<0x3xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<0x3xf64> -> tensor<0x3xf64>
  return %0 : tensor<0x3xf64>
}

func.func @softmax_of_nothing(%x: tensor<3x0xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x0xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x0xf64> -> tensor<3x0xf64>
  return %0 : tensor<3x0xf64>
}

func.func @log_softmax_rows(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x5xf64> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @log_softmax_columns(%x: tensor<5x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<5x3xf64> {
  %0 = tessera.log_softmax %x {dim = 0 : i64} : tensor<5x3xf64> -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
}

func.func @log_softmax_middle(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}) -> tensor<2x3x4xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<2x3x4xf64> -> tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}

func.func @log_softmax_one(%x: tensor<3x1xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x1xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x1xf64> -> tensor<3x1xf64>
  return %0 : tensor<3x1xf64>
}

func.func @log_softmax_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<0x3xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<0x3xf64> -> tensor<0x3xf64>
  return %0 : tensor<0x3xf64>
}

func.func @log_softmax_of_nothing(%x: tensor<3x0xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x0xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x0xf64> -> tensor<3x0xf64>
  return %0 : tensor<3x0xf64>
}

func.func @cross_entropy_rows(%x: tensor<4x5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<4xi64> {test.range = [0, 4]}) -> tensor<4xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<4x5xf64>, tensor<4xi64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @cross_entropy_narrow(%x: tensor<4x5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<4xi32> {test.range = [0, 4]}) -> tensor<4xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<4x5xf64>, tensor<4xi32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @cross_entropy_planes(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}, %l: tensor<2x3xi64> {test.range = [0, 3]}) -> tensor<2x3xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<2x3x4xf64>, tensor<2x3xi64> -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @cross_entropy_vector(%x: tensor<5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<i64> {test.range = [0, 4]}) -> tensor<f64> {
  %0 = tessera.cross_entropy %x, %l : tensor<5xf64>, tensor<i64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @cross_entropy_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}, %l: tensor<0xi64> {test.range = [0, 2]}) -> tensor<0xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<0x3xf64>, tensor<0xi64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}
)mlir";
