// What symbolic dimensions cannot be.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics -tessera-to-tensor -o /dev/null

// expected-error @below {{argument 0 names its dimension 1 "width", and has it of f32[?,8]}}
func.func @main(%x: tensor<?x8xf32> {tessera.symbols = ["batch", "width"]}) -> tensor<?x8xf32> {
  %0 = tessera.exp %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @main(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  // expected-error @below {{'tessera.reshape' op changes the number of elements: f32[?,8] to f32[?]}}
  %0 = tessera.reshape %x : tensor<?x8xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?x8xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{f32[?,?] has more than one symbolic dimension}}
  %0 = tessera.dot_general %x, %x {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 1>} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{f32[?] has a dimension that no argument's is}}
  %0 = tessera.constant 1.0 : f32 : tensor<?xf32>
  %1 = tessera.slice %0 {starts = array<i64: 0>, strides = array<i64: 1>} : tensor<?xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
