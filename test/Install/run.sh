#!/usr/bin/env bash
# Installs BUILD into a new folder, moves it, and builds and runs a stranger's project against it with each COMPILER.
# usage: run.sh BUILD COMPILER...
set -euo pipefail
build=$(readlink -f "$1") here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/first" >"$folder/log" || { cat "$folder/log" && exit 1; }
mv "$folder/first" "$folder/prefix"
prefix=$folder/prefix

# expect FILE TEXT: the stranger's program printed TEXT.
expect() {
  grep -qF -- "$2" "$1" || { echo "missing in the output: $2" && cat "$1" && exit 1; }
}

for compiler in "$@"; do
  project=$folder/$(basename "$compiler")
  # As some users build: every warning an error, no RTTI.
  cmake -S "$here/stranger" -B "$project" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror -fno-rtti" >"$folder/log"
  cmake --build "$project" >"$folder/log" || { cat "$folder/log" && exit 1; }
  TESSERA_CACHE=off "$project/stranger" >"$project/output"
  expect "$project/output" "inner dimensions differ: f32[2,2] and f32[3,3]"
  expect "$project/output" "stranger.cpp:19: [matmul]"
  ldd "$project/serve" >"$project/libraries"
  if grep -v -E 'linux-vdso|libc\.so|libm\.so|ld-linux' "$project/libraries"; then
    echo "a compiled model needs a library" && exit 1
  fi
  "$project/serve" >"$project/served"
  expect "$project/served" "no error: 4.625"
  expect "$project/output" "[30, 44]" # the second call sees the variable that the first has written
  echo "$compiler: built and run"
done

# The other way to find it, and the tool.
if command -v pkg-config >/dev/null; then
  libraries=$(dirname "$(find "$prefix" -name tessera.pc)")
  read -ra flags < <(PKG_CONFIG_PATH=$libraries pkg-config --cflags --libs tessera)
  "$1" -std=c++20 "$here/stranger/stranger.cpp" "${flags[@]}" -o "$folder/by-pkg-config"
  TESSERA_CACHE=off "$folder/by-pkg-config" >"$folder/output"
  expect "$folder/output" "inner dimensions differ"
  echo "pkg-config: built and run"
fi
"$prefix/bin/tessera-opt" --version >/dev/null
"$prefix/bin/tessera" compile "$here/stranger/mean.mlir" --emit=exe -o "$folder/mean"
"$folder/mean" --help | grep -q "numbers"

# Programs ahead of time: training in C gives the same bits as training in C++, and a C++ program classifies.
mkdir "$folder/digits"
(cd "$folder" && TESSERA_CACHE=off "$build/bin/digits" --epochs 5 --export digits >"$folder/log") || { cat "$folder/log" && exit 1; }
project=$folder/ahead-of-time
cmake -S "$here/../../examples/ahead-of-time" -B "$project" -DCMAKE_PREFIX_PATH="$prefix" -DDIGITS="$folder/digits" \
  -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >"$folder/log"
cmake --build "$project" >"$folder/log" || { cat "$folder/log" && exit 1; }
"$project/train" "$folder/digits" >"$folder/output"
expect "$folder/output" "55 steps, last loss"
python3 "$here/same-tensors.py" "$folder/digits.safetensors" "$folder/digits/trained.safetensors"
"$project/classify" "$folder/digits" >"$folder/output"
grep -qE "9[0-9]{2} of 1000 images right" "$folder/output" || { cat "$folder/output" && exit 1; }
echo "training in C: the same bits"
