#!/usr/bin/env python3
"""Measures first calls: first.py BENCH OUT.json [PYTHON].

BENCH is the program tessera-bench, PYTHON a Python with JAX; without it there are no peers. All of it may use every
processor, since compilers do. OUT.json gets a list of {row, threads, ours_ms, peers: {peer: ms}, ratio, roof}:

  first/cold    the training step's first call (trace, compile, run) with an empty cache
  first/warm    the same with everything in the cache on disk
  start/warm    a whole process that makes one training step, its start and exit included, with a warm cache
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TRAIN = "train/mlp-64-256-256-10-b128"
HERE = pathlib.Path(__file__).resolve().parent


def first_call(bench, cache):
    """Milliseconds of the first call, and of the whole process."""
    begin = time.perf_counter()
    run = subprocess.run([bench, "--first"], env={**os.environ, "TESSERA_CACHE": cache}, check=True, capture_output=True)
    return float(run.stdout), (time.perf_counter() - begin) * 1e3


def ours(bench, runs):
    cold, warm, whole = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(first_call(bench, cache)[0])
            first, process = first_call(bench, cache)
            warm.append(first)
            whole.append(process)
    return [statistics.median(values) for values in (cold, warm, whole)]


def jax(python, runs):
    firsts = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            out = pathlib.Path(folder) / "jax.json"
            subprocess.run([python, HERE / "peers" / "peer.py", "jax", "2", out, TRAIN], check=True, capture_output=True)
            firsts.append(json.loads(out.read_text())["rows"][TRAIN]["first_ms"])
    return statistics.median(firsts)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: first.py BENCH OUT.json [PYTHON]")
    cold, warm, whole = ours(sys.argv[1], 9)
    peers = {"jax": jax(sys.argv[3], 3)} if len(sys.argv) == 4 else {}
    entries = []
    for row, ms, compared in (("first/cold", cold, peers), ("first/warm", warm, peers), ("start/warm", whole, {})):
        ratio = ms / min(compared.values()) if compared else None
        entries.append({"row": row, "threads": 2, "ours_ms": ms, "peers": compared, "ratio": ratio, "roof": None})
    pathlib.Path(sys.argv[2]).write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
