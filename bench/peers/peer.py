#!/usr/bin/env python3
"""Measures what a user would otherwise take: peer.py PEER THREADS OUT.json [REGEX].

PEER is torch (eager), torch.compile, jax, onnxruntime or openvino. The rows are those of ../rows.json, those that REGEX
matches. OUT.json gets {peer, version, threads, rows: {row: {ms, first_ms}}}: the median of many calls, and the first call
with everything cold (trace, compile, run). A row that a peer cannot do has {error} instead.

A call makes its result as a user's call does. Pin the process with taskset; OUT.json says nothing about the machine.
"""
import contextlib
import functools
import json
import logging
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time
import warnings

PEERS = ("torch", "torch.compile", "jax", "onnxruntime", "openvino")
LAYERS = (64, 256, 256, 10)
BATCH = 128
TRAIN = "train/mlp-64-256-256-10-b128"
INFER = "infer/mlp-64-256-256-10-b1"


def chain(steps):
    def program(ops, a, b):
        x = a
        for step in range(steps):
            x = x * b + 0.5 if step % 2 else ops.relu(x - b)
        return x

    return program


def product(ops, a, b):
    return a @ b


# Name: the shapes of the inputs, the program, and their dtype if that is not float32. It is a program over a peer's
# `ops`: relu, softmax (last axis) and sum (axis or None).
PROGRAMS = {
    "call/add-8": ([(8,)] * 2, lambda ops, a, b: a + b),
    "call/mul-add-4in-8": ([(8,)] * 4, lambda ops, a, b, c, d: (a * b + c) * d),
    "chain1/64MiB": ([(1 << 24,)] * 2, chain(1)),
    "chain10/64MiB": ([(1 << 24,)] * 2, chain(10)),
    "chain10/64KiB": ([(1 << 14,)] * 2, chain(10)),
    "chain10/1MiB": ([(1 << 18,)] * 2, chain(10)),
    "softmax/4096x1024": ([(4096, 1024)], lambda ops, x: ops.softmax(x)),
    "sum-rows": ([(4096, 4096)], lambda ops, x: ops.sum(x, 1)),
    "sum-cols": ([(4096, 4096)], lambda ops, x: ops.sum(x, 0)),
    "sum-all": ([(1 << 24,)], lambda ops, x: ops.sum(x, None)),
    "gemm/64": ([(64, 64), (64, 64)], product),
    "gemm/512": ([(512, 512), (512, 512)], product),
    "gemm/1024": ([(1024, 1024), (1024, 1024)], product),
    "gemm/128x768x768": ([(128, 768), (768, 768)], product),
}
NARROW = {"f16": "float16", "bf16": "bfloat16"}
for tag, dtype in NARROW.items():
    PROGRAMS |= {
        f"chain10-{tag}/1MiB": ([(1 << 19,)] * 2, chain(10), dtype),
        f"softmax-{tag}/4096x1024": ([(4096, 1024)], lambda ops, x: ops.softmax(x), dtype),
        f"gemm-{tag}/512": ([(512, 512)] * 2, product, dtype),
    }


def measure(call, seconds=1.0):
    """The first call, and the median over batches that are long enough for the clock."""
    begin = time.perf_counter()
    call()
    first = time.perf_counter() - begin
    call()
    begin = time.perf_counter()
    call()
    estimate = max(time.perf_counter() - begin, 1e-7)
    batch = max(1, round(0.002 / estimate))
    samples = []
    stop = time.perf_counter() + seconds
    while len(samples) < 7 or (len(samples) < 300 and time.perf_counter() < stop):
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        samples.append((time.perf_counter() - begin) / batch)
    return {"ms": statistics.median(samples) * 1e3, "best_ms": min(samples) * 1e3, "first_ms": first * 1e3, "samples": len(samples)}


def inputs(shapes):
    import numpy

    random = numpy.random.default_rng(0)
    return [random.standard_normal(shape, dtype=numpy.float32) for shape in shapes]


def training_data():
    import numpy

    random = numpy.random.default_rng(0)
    images = random.standard_normal((BATCH, LAYERS[0]), dtype=numpy.float32)
    return images, random.integers(0, LAYERS[-1], BATCH)


class Torch:
    """Eager PyTorch, and with `compiled` torch.compile without any of its caches."""

    def __init__(self, threads, compiled):
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
        os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
        import torch

        self.torch, self.compiled, self.version = torch, compiled, torch.__version__
        torch.set_num_threads(threads)
        torch.manual_seed(0)

    def relu(self, x):
        return self.torch.relu(x)

    def softmax(self, x):
        return self.torch.softmax(x, -1)

    def sum(self, x, axis):
        return x.sum() if axis is None else x.sum(axis)

    def compile(self, function):
        if not self.compiled:
            return function
        self.torch._dynamo.reset()
        return self.torch.compile(function, dynamic=False)

    def prepare(self, program, shapes, dtype="float32"):
        arguments = [self.torch.from_numpy(array).to(getattr(self.torch, dtype)) for array in inputs(shapes)]
        return functools.partial(self.compile(functools.partial(program, self)), *arguments)

    def context(self, row):
        return contextlib.nullcontext() if row == TRAIN else self.torch.inference_mode()

    def model(self):
        nn = self.torch.nn
        layers = []
        for width, following in zip(LAYERS, LAYERS[1:]):
            layers += [nn.Linear(width, following), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    def prepare_inference(self):
        image = self.torch.from_numpy(inputs([(1, LAYERS[0])])[0])
        return functools.partial(self.compile(self.model().eval()), image)

    def prepare_training(self):
        nn = self.torch.nn
        model = self.model()
        optimizer = self.torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        images, labels = (self.torch.from_numpy(array) for array in training_data())
        loss_of = self.compile(lambda x, y: nn.functional.cross_entropy(model(x), y))

        def call():
            optimizer.zero_grad(set_to_none=True)
            loss_of(images, labels).backward()
            optimizer.step()

        return call


class Jax:
    def __init__(self, threads):
        pool = "true" if threads > 1 else "false"
        os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={pool} intra_op_parallelism_threads={threads}"
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        self.jax, self.version = jax, jax.__version__

    def relu(self, x):
        return self.jax.nn.relu(x)

    def softmax(self, x):
        return self.jax.nn.softmax(x, axis=-1)

    def sum(self, x, axis):
        return x.sum(axis)

    def prepare(self, program, shapes, dtype="float32"):
        arguments = [self.jax.device_put(array).astype(dtype) for array in inputs(shapes)]
        function = self.jax.jit(functools.partial(program, self))
        return lambda: function(*arguments).block_until_ready()

    def prepare_inference(self):
        random = self.jax.random
        keys = random.split(random.key(0), len(LAYERS) - 1)
        weights = [random.normal(key, shape) * 0.1 for key, *shape in zip(keys, LAYERS, LAYERS[1:])]
        biases = [self.jax.numpy.zeros(width) for width in LAYERS[1:]]

        def infer(x):
            for weight, bias in zip(weights[:-1], biases):
                x = self.jax.nn.relu(x @ weight + bias)
            return x @ weights[-1] + biases[-1]

        image = self.jax.device_put(inputs([(1, LAYERS[0])])[0])
        function = self.jax.jit(infer)
        return lambda: function(image).block_until_ready()

    def prepare_training(self):
        jax, numpy = self.jax, self.jax.numpy
        keys = jax.random.split(jax.random.key(0), len(LAYERS) - 1)
        parameters = [
            (jax.random.normal(key, (width, following)) * width**-0.5, numpy.zeros(following))
            for key, width, following in zip(keys, LAYERS, LAYERS[1:])
        ]
        images, labels = (jax.device_put(array) for array in training_data())

        def loss_of(parameters, x, y):
            for weights, bias in parameters[:-1]:
                x = jax.nn.relu(x @ weights + bias)
            weights, bias = parameters[-1]
            logits = jax.nn.log_softmax(x @ weights + bias)
            return -numpy.take_along_axis(logits, y[:, None], 1).mean()

        def step(state, x, y):
            count, parameters, mean, square = state
            gradient = jax.grad(loss_of)(parameters, x, y)
            tree_map = jax.tree_util.tree_map
            count = count + 1
            mean = tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
            square = tree_map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
            rate, unbias = 1e-3 / (1 - 0.9**count), 1 / (1 - 0.999**count)
            update = lambda p, m, s: p - rate * m / (numpy.sqrt(s * unbias) + 1e-8)
            return count, tree_map(update, parameters, mean, square), mean, square

        zeros = lambda: jax.tree_util.tree_map(numpy.zeros_like, parameters)
        state = [(numpy.zeros(()), parameters, zeros(), zeros())]
        compiled = jax.jit(step, donate_argnums=0)

        def call():
            state[0] = jax.block_until_ready(compiled(state[0], images, labels))

        return call


class Onnx:
    """A base for the peers that run ONNX files, which PyTorch writes."""

    def __init__(self):
        logging.disable(logging.WARNING)  # the exporter names every optional package that is absent
        self.writer = Torch(1, compiled=False)

    def export(self, program, shapes):
        torch, writer = self.writer.torch, self.writer

        class Module(torch.nn.Module):
            def forward(self, *values):
                return program(writer, *values)

        return self.write(Module(), shapes)

    def write(self, module, shapes):
        torch = self.writer.torch
        arrays = inputs(shapes)
        path = os.path.join(tempfile.mkdtemp(), "model.onnx")
        arguments = tuple(torch.from_numpy(array) for array in arrays)
        torch.onnx.export(module.eval(), arguments, path, dynamo=True, verbose=False)
        return path, arrays

    def prepare(self, program, shapes, dtype="float32"):
        if dtype != "float32":
            raise ValueError("inputs of narrow floats are not compared")
        return self.caller(*self.export(program, shapes))

    def prepare_inference(self):
        return self.caller(*self.write(self.writer.model(), [(1, LAYERS[0])]))


class OnnxRuntime(Onnx):
    def __init__(self, threads):
        super().__init__()
        import onnxruntime

        self.runtime, self.version, self.threads = onnxruntime, onnxruntime.__version__, threads

    def caller(self, path, arrays):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        session = []

        def call():
            if not session:  # so that the first call contains the compilation
                session.append(self.runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))
                self.feed = {node.name: array for node, array in zip(session[0].get_inputs(), arrays)}
            session[0].run(None, self.feed)

        return call


class OpenVino(Onnx):
    def __init__(self, threads):
        super().__init__()
        import openvino

        self.openvino, self.version, self.threads = openvino, openvino.__version__, threads

    def caller(self, path, arrays):
        options = {"INFERENCE_NUM_THREADS": self.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        request = []

        def call():
            if not request:
                compiled = self.openvino.Core().compile_model(path, "CPU", options)
                request.append(compiled.create_infer_request())
                for index, array in enumerate(arrays):
                    request[0].set_input_tensor(index, self.openvino.Tensor(array, shared_memory=True))
            request[0].infer()

        return call


def make_peer(name, threads):
    if name in ("torch", "torch.compile"):
        return Torch(threads, compiled=name == "torch.compile")
    return {"jax": Jax, "onnxruntime": OnnxRuntime, "openvino": OpenVino}[name](threads)


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in PEERS:
        sys.exit(f"usage: peer.py {'|'.join(PEERS)} THREADS OUT.json [REGEX]")
    name, threads, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    wanted = re.compile(sys.argv[4] if len(sys.argv) == 5 else "")
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)
    for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(variable, None)

    known = json.loads((pathlib.Path(__file__).resolve().parent.parent / "rows.json").read_text())
    # Rows beside another's have no program of their own: where they are wanted, so is the other.
    wanted = {what.get("beside", row) for row, what in known.items() if wanted.search(row)}
    known = [row for row, what in known.items() if "beside" not in what]
    assert set(known) == set(PROGRAMS) | {TRAIN, INFER}, "rows.json and the programs here must name the same rows"
    warnings.simplefilter("ignore")  # the peers' remarks about their own settings
    peer = make_peer(name, threads)
    warnings.simplefilter("ignore")  # some set filters of their own when they are imported
    results = {}
    # Training comes first: its first call is to find the process as a user's program would.
    for row in [TRAIN, *(row for row in known if row != TRAIN)]:
        if row not in wanted:
            continue
        if row == TRAIN and not hasattr(peer, "prepare_training"):
            continue
        try:
            if row == TRAIN:
                call = peer.prepare_training()
            elif row == INFER:
                call = peer.prepare_inference()
            else:
                shapes, program, *dtype = PROGRAMS[row]
                call = peer.prepare(program, shapes, *dtype)
            with peer.context(row) if hasattr(peer, "context") else contextlib.nullcontext():
                results[row] = measure(call)
        except Exception as error:  # a peer's failure is a result
            results[row] = {"error": f"{type(error).__name__}: {error}"[:200]}
        result = results[row]
        text = result.get("error") or f"{result['ms']:.5g} ms, first call {result['first_ms']:.4g} ms"
        print(f"{name:14} {threads} {row:30} {text}", file=sys.stderr, flush=True)
    with open(out, "w") as file:
        json.dump({"peer": name, "version": str(peer.version), "threads": threads, "rows": results}, file, indent=1)


if __name__ == "__main__":
    main()
