#!/usr/bin/env python3
"""Checks rules of this project that no compiler checks: check.py [includes|sizes|paths]... (all of them by default).

includes: which folder may include which, and that public headers show no LLVM or MLIR.
sizes:    prints files of more than 600 lines (a hint, not a fault).
paths:    no path of somebody's machine in a source.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".h", ".cpp", ".c", ".td"}
TEXT = CODE | {".py", ".sh", ".cmake", ".md", ".txt", ".mlir", ".in", ""}
FOLDERS = ("dialects", "lowering", "runtime", "frontend", "tools", "test", "examples", "bench", "cmake", "scripts", "docs", "data")

# What each folder may include of ours; test, tools, examples and bench may include everything.
ALLOWED = {
    "runtime": {"runtime"},
    "dialects": {"dialects"},
    "lowering": {"lowering", "dialects", "runtime"},
    "frontend": {"frontend", "lowering", "dialects", "runtime"},
}
OURS = {"runtime", "dialects", "lowering", "frontend", "tools", "test", "examples", "bench", "tessera"}
COMPILER = re.compile(r"(mlir|llvm|llvm-c|mlir-c|clang)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]|^\s*include\s+"([^"]+)"')
LONG = 600
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|Users|work|mnt|srv)/\w")


def files(folders, kinds):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in kinds and "__pycache__" not in path.parts:
                yield path


def lines(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def includes():
    """Faults of include directions, as `file:line: text`."""
    for path in files(ALLOWED, CODE):
        relative = path.relative_to(ROOT)
        folder = relative.parts[0]
        public = relative.parts[:2] == ("frontend", "include")
        for number, line in enumerate(lines(path), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1) or match.group(2)
            first = target.split("/")[0]
            where = f"{relative}:{number}: "
            if target.startswith((".", "/")) and "/" in target:
                yield where + f'include "{target}" from the root of the repository, not by a relative or absolute path'
            elif "/" in target and first in OURS and first not in ALLOWED[folder] and not (first == "tessera" and folder == "frontend"):
                yield where + f"{folder}/ must not include {first}/ ({target})"
            elif COMPILER.match(target) and folder == "runtime":
                yield where + f"runtime/ must not depend on LLVM or MLIR ({target})"
            elif public and (COMPILER.match(target) or first in ("lowering", "dialects")):
                yield where + f"a public header must not show the compiler ({target})"


def sizes():
    """Prints the long files; never a fault."""
    for path in files(FOLDERS, CODE | {".py", ".sh", ".cmake"}):
        count = len(lines(path))
        if count > LONG:
            print(f"{path.relative_to(ROOT)}: {count} lines, more than {LONG}: can it be two files?")
    return ()


def paths():
    """Faults: paths that only exist on the machine of whoever wrote them."""
    for path in [*files(FOLDERS, TEXT), ROOT / "dev", ROOT / "CMakeLists.txt", *sorted(ROOT.glob("*.md"))]:
        for number, line in enumerate(lines(path), 1):
            if MACHINE_PATH.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: a path of one machine: {line.strip()[:100]}"


def main():
    checks = {"includes": includes, "sizes": sizes, "paths": paths}
    chosen = sys.argv[1:] or list(checks)
    unknown = [name for name in chosen if name not in checks]
    if unknown:
        sys.exit(f"unknown check {unknown[0]}: one of {', '.join(checks)}")
    faults = [fault for name in chosen for fault in checks[name]()]
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
