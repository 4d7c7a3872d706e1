"""Times the Gemm emitter beside NumPy (OpenBLAS) and ONNX Runtime, one thread, in turns: bench.py LIBGEMM-BENCH.SO [REGEX [SCHEDULE...]].

A schedule is "field=value,..." of GemmPlan, for measuring other choices than the emitter's own (""). Prints the median time a call, the share of
the measured peak, and the median of each contender's time over that of the first.
"""
import ctypes
import mmap
import os
import re
import statistics
import sys
import time

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np

POINTER, INT = ctypes.c_void_p, ctypes.c_int64
lib = ctypes.CDLL(sys.argv[1])
lib.gemm_make.restype = POINTER
lib.gemm_make.argtypes = [ctypes.c_char_p, INT, INT, INT, INT, ctypes.c_int, ctypes.c_char_p, POINTER]
lib.gemm_time.restype = ctypes.c_double
lib.gemm_time.argtypes = [POINTER, POINTER, POINTER, POINTER, INT]
lib.gemm_free.argtypes = [POINTER]

SIZES = [(16, 16, 16), (32, 32, 32), (64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024),
         (1000, 1000, 1000), (300, 77, 100), (128, 768, 768), (16, 4096, 1024), (4, 4096, 1024), (1, 4096, 1024),
         (128, 64, 256), (128, 256, 256), (128, 256, 10), (128, 10, 256), (256, 128, 10)]
ROWS = [(f"{m}x{k}x{n}{end}", 1, m, k, n, layout) for m, k, n in SIZES for layout, end in enumerate(("", "-At", "-Bt"))]
ROWS.append(("batch256-64x64x64", 256, 64, 64, 64, 0))


def array(*shape):
    """Random floats in huge pages where the kernel gives them, as the runtime's allocator has them."""
    size = int(np.prod(shape)) * 4
    memory = mmap.mmap(-1, size + (4 << 20), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    raw = np.frombuffer(memory, dtype=np.uint8)
    start = -raw.ctypes.data % (2 << 20)
    result = raw[start:start + size].view(np.float32).reshape(shape)
    result[:] = np.random.default_rng(0).standard_normal(shape)
    return result


def timed(call):
    def run(count):
        start = time.thread_time()
        for _ in range(count):
            call()
        return (time.thread_time() - start) / count
    return run


def onnx_runtime(a, b, c, layout):
    import onnxruntime as runtime
    from onnx import TensorProto, helper
    info = lambda name, x: helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
    node = helper.make_node("MatMul", ["a", "b"], ["c"]) if a.ndim > 2 else helper.make_node(
        "Gemm", ["a", "b"], ["c"], transA=layout & 1, transB=layout >> 1)
    model = helper.make_model(helper.make_graph([node], "g", [info("a", a), info("b", b)], [info("c", c)]),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, x in (("a", a), ("b", b)):
        binding.bind_ortvalue_input(name, runtime.OrtValue.ortvalue_from_numpy(x))
    binding.bind_ortvalue_output("c", runtime.OrtValue.ortvalue_from_numpy(c))
    return lambda: session.run_with_iobinding(binding)


def measure(name, batch, m, k, n, layout, schedules, budget=0.5):
    a = array(batch, k, m) if layout & 1 else array(batch, m, k)
    b = array(batch, n, k) if layout & 2 else array(batch, k, n)
    c, other = array(batch, m, n), array(batch, m, n)
    pointers = [x.ctypes.data_as(POINTER) for x in (a, b, c)]
    if batch == 1:
        a, b, other = a[0], b[0], other[0]
    contenders, compile_ms, handles = {}, [], []
    for schedule in schedules:
        times = (ctypes.c_double * 4)()
        handle = lib.gemm_make(b"f32", batch, m, n, k, layout, schedule.encode(), times)
        handles.append(handle)
        compile_ms.append(sum(times))
        contenders[f"tessera {schedule}"] = lambda count, handle=handle: lib.gemm_time(handle, *pointers, count)
    x = a.swapaxes(-1, -2) if layout & 1 else a
    y = b.swapaxes(-1, -2) if layout & 2 else b
    contenders["numpy"] = timed(lambda: np.matmul(x, y, out=other))
    contenders["ort"] = timed(onnx_runtime(a, b, other, layout))
    operations = 2.0 * batch * m * n * k
    count = max(1, int(0.0006 / max(operations / 8e10, 3e-7)))
    samples = {key: [] for key in contenders}
    end = time.time() + budget * len(contenders)
    while time.time() < end or len(samples["numpy"]) < 5:
        for key, run in contenders.items():
            samples[key].append(run(count))
    error = np.abs(np.matmul(x, y) - (c if batch > 1 else c[0])).max()
    first = next(iter(samples.values()))
    text = " | ".join(
        f"{key} {statistics.median(s) * 1e6:.2f} us, {operations / min(s) * 1e-9:.1f} GFLOP/s at best, "
        f"{statistics.median(t / f for t, f in zip(s, first)):.3f}" for key, s in samples.items())
    print(f"{name}: {text} | compile {' '.join(f'{t:.1f}' for t in compile_ms)} ms, error {error:.1e}", flush=True)
    for handle in handles:
        lib.gemm_free(handle)


pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
for row in ROWS:
    if pattern.search(row[0]):
        measure(*row, sys.argv[3:] or [""])
