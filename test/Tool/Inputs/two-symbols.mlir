// Two batches of their own.
module attributes {tessera.stage = "trace"} {
  func.func @main(%x: tensor<?x4xf32> {tessera.name = "x", tessera.symbols = ["images", ""]},
                  %y: tensor<?x4xf32, #tessera.extent<s1>> {tessera.name = "y", tessera.symbols = ["queries", ""]})
      -> (tensor<?x4xf32> {tessera.name = "a"}, tensor<?x4xf32, #tessera.extent<s1>> {tessera.name = "b"}) {
    %a = tessera.exp %x : tensor<?x4xf32>
    %b = tessera.exp %y : tensor<?x4xf32, #tessera.extent<s1>>
    return %a, %b : tensor<?x4xf32>, tensor<?x4xf32, #tessera.extent<s1>>
  }
}
