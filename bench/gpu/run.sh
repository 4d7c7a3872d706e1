#!/bin/sh
# Checks and measures the GPU of this machine, in less than 8 minutes: correctness first, then one table.
#
#   bench/gpu/run.sh [--dry-run] [--device=cuda:N]
#
# It needs NVIDIA's driver and a build, in ../../build or where TESSERA_BUILD says; of a build that was made elsewhere,
# bin/tessera-gpu-bench, lib/libtessera.so and lib/libtessera-runtime.so are enough. nvJitLink and cuBLASLt are used if
# the loader, or CUDA_HOME, finds them. --dry-run takes small sizes and the driver of the tests, which runs the kernels
# on the emulator: what it prints are no measurements. Exit codes: 0 ok, 3 other bits than the CPU's, 1 any other error.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${TESSERA_BUILD:-$here/../../build}
flags=
for flag; do
  case $flag in
  --dry-run)
    flags="$flags --small"
    export TESSERA_CUDA_DRIVER="$build/test/Cuda/libtessera-test-cuda.so"
    ;;
  --device=*) flags="$flags $flag" ;;
  *)
    echo "run.sh: unknown flag $flag; there are --dry-run and --device=cuda:N" >&2
    exit 2
    ;;
  esac
done
if [ ! -x "$build/bin/tessera-gpu-bench" ]; then
  echo "run.sh: there is no bin/tessera-gpu-bench in $build: build it, or set TESSERA_BUILD" >&2
  exit 1
fi
export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# shellcheck disable=SC2086 # the flags are words
exec timeout 470 "$build/bin/tessera-gpu-bench" $flags
