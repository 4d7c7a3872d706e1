# Small helpers of ./dev: messages, the list of our sources, how many compilations fit the machine.

note() { printf 'dev: %s\n' "$*" >&2; }

# fail MESSAGE [STATUS]: says what to do and ends the script.
fail() {
  printf 'dev: error: %s\n' "$1" >&2
  exit "${2:-1}"
}

# quietly COMMAND...: runs COMMAND and shows its output only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [[ $status -eq 0 ]] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# The C++ sources of this project, separated by NUL.
sources() {
  find dialects lowering runtime frontend tools test examples bench cmake -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0
}

# As many compilations as there are processors, but no more than fit the memory: one takes up to 1.5 GB.
job_count() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo "${TESSERA_JOBS:-$((processors < memory ? processors : memory))}"
}

# Compilations are shared between checkouts: paths below the checkout count relative to it.
export CCACHE_BASEDIR="$PWD"
export CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime"
