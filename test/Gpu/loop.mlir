// An elementwise kernel: 128-bit accesses, each op rounded once, the user's lines.
// RUN: tessera-ptx %s --arch=sm_80 | FileCheck %s
// RUN: tessera-ptx %s --arch=sm_75 | FileCheck %s --check-prefix=SM75
// RUN: tessera-ptx %s --arch=sm_100 | FileCheck %s --check-prefix=SM100
// RUN: tessera-ptx %s --arch=all --emit=check --max-registers=40 --min-occupancy=1 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect='st.global.v4.b32|st.global.v2.b64'
// RUN: tessera-ptx %s --arch=sm_90 > %t.1 && tessera-ptx %s --arch=sm_90 > %t.2 && cmp %t.1 %t.2

// CHECK: .version 8.0
// CHECK: .target sm_80
// CHECK-NOT: debug
// CHECK: .visible .entry loop(
// CHECK: .maxntid 256, 1, 1
// CHECK: .loc [[TRAIN:[0-9]+]] 12 3
// CHECK: ld.global.v4.b32
// CHECK: .loc [[MODEL:[0-9]+]] 40 9
// CHECK-COUNT-4: mul.rn.f32
// CHECK-COUNT-4: add.rn.f32
// CHECK-COUNT-4: div.rn.f32
// CHECK-COUNT-4: sqrt.rn.f32
// CHECK-COUNT-4: fma.rn.f32
// CHECK-NOT: fma
// CHECK-COUNT-4: max.NaN.f32
// CHECK: st.global.v4.b32
// CHECK: .file [[TRAIN]] "user/train.cpp"
// CHECK: .file [[MODEL]] "user/model.cpp"

// SM75: .target sm_75
// SM75-NOT: max.NaN
// SM100: .version 8.6
// SM100: mul.rn.f32x2
#train = loc("user/train.cpp":12:3)
#model = loc("user/model.cpp":40:9)
#library = loc("nn.cpp":7:1)
gpu.module @kernels {
  gpu.func @loop(%a: memref<1048576xf32> {llvm.noalias}, %b: memref<1048576xf32> {llvm.noalias}, %out: memref<1048576xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tessera.launch = 1024 : i64} {
    %four = arith.constant 4 : index loc(#train)
    %block = gpu.block_id x loc(#train)
    %size = gpu.block_dim x loc(#train)
    %thread = gpu.thread_id x loc(#train)
    %start = arith.muli %block, %size : index loc(#train)
    %i = arith.addi %start, %thread : index loc(#train)
    %e = arith.muli %i, %four : index loc(#train)
    %x = vector.load %a[%e] {alignment = 16 : i64} : memref<1048576xf32>, vector<4xf32> loc(#train)
    %y = vector.load %b[%e] {alignment = 16 : i64} : memref<1048576xf32>, vector<4xf32> loc(#train)
    %product = arith.mulf %x, %y : vector<4xf32> loc(callsite(#library at #model))
    %sum = arith.addf %product, %y : vector<4xf32> loc(fused[#model, #train])
    %quotient = arith.divf %sum, %x : vector<4xf32> loc(#model)
    %root = math.sqrt %quotient : vector<4xf32> loc(#model)
    %fma = math.fma %root, %x, %y : vector<4xf32> loc(#model)
    %max = arith.maximumf %fma, %x : vector<4xf32> loc(#model)
    vector.store %max, %out[%e] {alignment = 16 : i64} : memref<1048576xf32>, vector<4xf32> loc(#train)
    gpu.return loc(#train)
  } loc(#train)
}
