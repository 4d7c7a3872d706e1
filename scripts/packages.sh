# The Debian packages that a build needs, and how ./dev installs the missing ones.

packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools clang-22 lld-22 clang-format-22 libclang-rt-22-dev
  libzstd-dev zlib1g-dev libgtest-dev nlohmann-json3-dev
  cmake ninja-build ccache git python3 gdb qemu-user
)

# Those of the packages that are not installed, one a line. A query of dpkg takes some 20 ms, so no stamp is kept.
missing_packages() {
  local installed
  # dpkg-query also fails when it knows a package only by name; what it prints is what counts.
  installed=$({ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true; } | awk '$1 == "installed" { print $2 }')
  comm -23 <(printf '%s\n' "${packages[@]}" | sort) <(sort <<<"$installed")
}

# Installs what is missing, or says which packages are needed and by which command they come.
require_packages() {
  command -v dpkg-query >/dev/null || return 0 # not a Debian: require_toolchain checks the tools themselves
  local -a missing as_root=()
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  local by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || fail "packages are missing and there is no sudo. As root, run: $by_hand"
    as_root=(sudo)
    # Without a terminal nobody can type the password.
    [[ -t 0 ]] || as_root+=(-n)
    "${as_root[@]}" true || fail "packages are missing and sudo was refused. As root, run: $by_hand"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  note "installing ${missing[*]}"
  # A source of the machine that has nothing to do with us may fail here; whether ours are reachable shows below.
  quietly "${as_root[@]}" update || note "apt-get update reported errors; trying to install all the same"
  local name
  for name in "${missing[@]}"; do
    [[ -n $(apt-cache policy "$name" | awk '/Candidate:/ && $2 != "(none)"') ]] ||
      fail "apt knows no package $name. It is in Debian 12 with its security updates; on another system add the LLVM project's apt repository for version 22. If the network is down, the package lists may be empty: check the connection and try again."
  done
  quietly "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" ||
    fail "the packages could not be installed (the messages of apt-get are above: is the network reachable, the disk full?). To do it by hand, run as root: $by_hand"
}

# Checks that the tools answer and are of the right version.
require_toolchain() {
  local tool version
  for tool in llvm-config-22 clang++-22 ld.lld-22 cmake ninja python3; do
    command -v "$tool" >/dev/null ||
      fail "$tool was not found. On Debian these packages bring all that is needed: ${packages[*]}. If they are installed, is /usr/bin in PATH?"
  done
  version=$(llvm-config-22 --version)
  [[ $version == 22.1.* ]] || fail "LLVM 22.1 is needed, but llvm-config-22 is of version $version. Install llvm-22-dev and libmlir-22-dev of 22.1."
}
