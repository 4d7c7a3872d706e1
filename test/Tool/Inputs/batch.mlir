// Two layers for any batch of 3 or more: a product, rows, columns, sums, a shifted size and a state that is updated.
module attributes {tessera.stage = "trace"} {
  func.func @main(%x: tensor<?x37xf32> {tessera.name = "x", tessera.symbols = ["batch", ""]},
                  %w: tensor<37x19xf32> {tessera.name = "w"},
                  %mean: tensor<19xf32> {tessera.name = "mean"})
      -> (tensor<?x19xf32> {tessera.name = "y"}, tensor<f32> {tessera.name = "sum"},
          tensor<?x37xf32, #tessera.extent<s0 + -3>> {tessera.name = "later"},
          tensor<19xf32> {tessera.name = "mean", tessera.updates = 2 : i64}) {
    %h = tessera.dot_general %x, %w {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<?x37xf32>, tensor<37x19xf32>) -> tensor<?x19xf32>
    %t = tessera.tanh %h : tensor<?x19xf32>
    %y = tessera.softmax %t {dim = 1 : i64} : tensor<?x19xf32> -> tensor<?x19xf32>
    %column = tessera.reduce sum, %t {dims = array<i64: 0>} : tensor<?x19xf32> -> tensor<19xf32>
    %next = tessera.add %mean, %column : tensor<19xf32>
    %sum = tessera.reduce sum, %y {dims = array<i64: 0, 1>} : tensor<?x19xf32> -> tensor<f32>
    %later = tessera.slice %x {starts = array<i64: 3, 0>, strides = array<i64: 1, 1>} : tensor<?x37xf32> -> tensor<?x37xf32, #tessera.extent<s0 + -3>>
    %exp = tessera.exp %later : tensor<?x37xf32, #tessera.extent<s0 + -3>>
    return %y, %sum, %exp, %next : tensor<?x19xf32>, tensor<f32>, tensor<?x37xf32, #tessera.extent<s0 + -3>>, tensor<19xf32>
  }
}
