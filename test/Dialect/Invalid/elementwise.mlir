// Elementwise ops take operands of one type
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @kind(%x: tensor<2xi32>) {
  // expected-error @below {{'tessera.exp' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values}}
  %0 = "tessera.exp"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @bool(%x: tensor<2xi1>) {
  // expected-error @below {{'tessera.neg' op operand #0 must be ranked tensor of}}
  %0 = "tessera.neg"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{failed to verify that all of {a, b, y} have same type}}
  %0 = "tessera.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unsigned(%x: tensor<2xui8>) {
  // expected-error @below {{'tessera.abs' op operand #0 must be ranked tensor of}}
  %0 = "tessera.abs"(%x) : (tensor<2xui8>) -> tensor<2xui8>
  return
}

// -----

func.func @floats(%x: tensor<2xf32>) {
  // expected-error @below {{'tessera.not' op operand #0 must be ranked tensor of}}
  %0 = "tessera.not"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
