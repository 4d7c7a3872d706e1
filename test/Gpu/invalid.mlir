// What a GPU kernel module must not be.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-lower-to-nvvm=arch=sm_86

// expected-error @+1 {{a GPU kernel module has one gpu.module, not 0}}
module {}

// -----

gpu.module @kernels {
  // expected-error @+1 {{a kernel needs known_block_size}}
  gpu.func @k(%x: memref<8xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{a block has 1 to 1024 threads, not 2048}}
  gpu.func @k(%x: memref<8xf32>) kernel attributes {known_block_size = array<i32: 1024, 2, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{a kernel takes memrefs of static shape and identity layout, then numbers}}
  gpu.func @k(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{it declares 65536 bytes of shared memory, more than the 49152 that can be declared: take dynamic shared memory}}
  gpu.func @k() workgroup(%t : memref<16384xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{it needs 131072 bytes of shared memory, and a block has 101376 on sm_86}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tessera.shared = 131072 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{a kernel calls 'helper', which there is no code for}}
  func.func private @helper()
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    func.call @helper() : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<8xf32>
    // expected-error @+1 {{has fast-math flags}}
    %s = arith.addf %v, %v fastmath<fast> : f32
    memref.store %s, %x[%i] : memref<8xf32>
    gpu.return
  }
}
