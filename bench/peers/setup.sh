#!/usr/bin/env bash
# Installs the peers that the benchmark compares with into a Python environment: setup.sh DIR (some 4.5 GB, a few minutes).
# A complete environment is left as it is; an incomplete one is begun anew.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 DIR" >&2; exit 2; }
folder=$1
stamp=$folder/tessera-peers-complete
[[ ! -e $stamp ]] || exit 0

complain() {
  echo "the peers could not be installed in $folder: $1" >&2
  exit 1
}

for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
  if command -v "$python" >/dev/null && "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    break
  fi
  python=
done
[[ -n $python ]] || complain "no Python with venv was found; on Debian: apt-get install -y python3-venv"

rm -rf "$folder"
"$python" -m venv "$folder"
pip=("$folder/bin/pip" install --quiet --disable-pip-version-check)

# PyTorch's wheel asks for all of CUDA. Its library only has to load, so it is installed without its dependencies, and then
# with those few libraries that it links directly.
"${pip[@]}" numpy jax jaxlib onnx onnxruntime onnxscript openvino \
  filelock sympy networkx jinja2 fsspec typing_extensions setuptools || complain "pip failed; is the network reachable?"
"${pip[@]}" --no-deps torch nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13 nvidia-cudnn-cu13 nvidia-nccl-cu13 ||
  complain "pip failed on torch"
"$folder/bin/python" - <<'PYTHON' || complain "a peer does not load"
import importlib

for name in ("numpy", "torch", "jax", "onnxruntime", "openvino"):
    print(name, importlib.import_module(name).__version__)
PYTHON
touch "$stamp"
