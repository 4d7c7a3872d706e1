# The configuration of lit for all folders of tests. Run it with --param build=FOLDER, as ./dev test does.
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import lit.formats

source = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(lit_config.params.get("build", source / "build")).resolve()
llvm_config = shutil.which("llvm-config-22") or shutil.which("llvm-config")
if not llvm_config:
    lit_config.fatal("llvm-config-22 was not found: install llvm-22-dev")
llvm_bin = subprocess.run([llvm_config, "--bindir"], check=True, capture_output=True, text=True).stdout.strip()
if not (build / "CMakeCache.txt").is_file():
    lit_config.fatal(f"{build} holds no build: run ./dev build")

config.name = "tessera"
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Inputs"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(source / "test")
config.test_exec_root = str(build / "test")

# Our tools come before LLVM's FileCheck, not, split-file and mlir-opt.
config.environment["PATH"] = os.pathsep.join([str(build / "bin"), llvm_bin, os.environ["PATH"]])
# A test must not see what an earlier run left on disk.
config.environment["TESSERA_CACHE"] = "off"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "TESSERA_CPU", "TESSERA_TEST_ALL"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%cuda-test-driver", str(build / "test" / "Cuda" / "libtessera-test-cuda.so")))
config.substitutions.append(("%data", str(source / "data")))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%tessera", str(build / "bin" / "tessera")))
# The C and C++ compilers of users' programs: the system's if there are any.
for name, candidates in (("%cc", ("cc", "clang-22")), ("%cxx", ("c++", "clang++-22"))):
    config.substitutions.append((name + r"\b", next(filter(None, map(shutil.which, candidates)), candidates[-1])))

if shutil.which("qemu-aarch64"):
    config.available_features.add("qemu-aarch64")

# NVIDIA's assembler and linker, which turn PTX into machine code without a GPU.
cuda = [pathlib.Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + [pathlib.Path("/usr/local/cuda")]
for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "TESSERA_CUDA_DRIVER"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if shutil.which("ptxas") or any((root / "bin/ptxas").is_file() for root in cuda):
    config.available_features.add("ptxas")
if any(next(root.glob("lib*/libnvJitLink.so*"), None) for root in cuda):
    config.available_features.add("nvjitlink")

# `REQUIRES: avx2` and the like: what this processor can run. `REQUIRES: all`: slow, only with ./dev test --all.
config.available_features.add(platform.machine())
try:
    flags = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags.update(line.split(":")[1].split())
            break
    for feature, needed in (("avx2", "avx2"), ("fma", "fma"), ("avx512", "avx512f"), ("avx512-bf16", "avx512_bf16"), ("avx512-vnni", "avx512_vnni")):
        if needed in flags:
            config.available_features.add(feature)
except OSError:
    pass
if os.environ.get("TESSERA_TEST_ALL"):
    config.available_features.add("all")
