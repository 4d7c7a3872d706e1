#!/usr/bin/env python3
"""Keeps the documents true: their programs are built, and what they show is compared with what comes out.

documents.py extract FOLDER      writes each C++ block that holds a main() as a file into FOLDER
documents.py check BUILD         runs the commands of each console block and compares
documents.py update BUILD        the same, and puts what comes out into the documents

A C++ block is named by its first line, `// NAME.cpp`, else after its document. A C block whose first line is
`/* NAME.c */` is a file in the folder where the commands run. In a console block a line `$ COMMAND`
is run by bash, with the documents' programs and the tools of BUILD in its PATH, and the lines up to the next one are
its output. The commands of one document share a folder, which is empty at first. Hashes, which differ from build to
build, are written <hash>.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"\b[0-9a-f]{32}\b|(?<=_)[0-9a-f]{32}\b")


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text, language):
    return [match for match in BLOCK.finditer(text) if match[1] == language]


def extract(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents():
        for number, block in enumerate(blocks(document.read_text(encoding="utf-8"), "cpp")):
            if not re.search(r"\bint main\(", block[2]):
                continue
            named = re.match(r"// ([\w-]+)\.cpp\n", block[2])
            name = named[1] if named else f"{document.stem.lower()}-{number}"
            path = folder / f"{name}.cpp"
            if not path.is_file() or path.read_text(encoding="utf-8") != block[2]:
                path.write_text(block[2], encoding="utf-8")
            print(name)


def run(command, folder, environment):
    """What the command prints, errors included."""
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    text = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    if result.returncode != 0:
        text += f"\n[exit status {result.returncode}]"
    return HASH.sub("<hash>", text.strip("\n"))


def rerun(console, folder, environment):
    """A console block with the output that its commands give now."""
    commands = [line for line in console.splitlines() if line.startswith("$ ")]
    parts = []
    for command in commands:
        output = run(command[2:], folder, environment)
        parts.append(command + ("\n" + output if output else "") + "\n")
    return "".join(parts)


def environment_of(build):
    tools = subprocess.run(["llvm-config-22", "--bindir"], check=True, capture_output=True, text=True).stdout.strip()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TESSERA_")}
    environment["PATH"] = os.pathsep.join([str(build / "test/Documents"), str(build / "bin"), tools, os.environ["PATH"]])
    environment["TESSERA_CACHE"] = "off"
    # The same code is shown wherever the check runs.
    environment["TESSERA_CPU"] = "x86-64-v3"
    return environment


def has_avx2():
    info = pathlib.Path("/proc/cpuinfo")
    return info.is_file() and {"avx2", "fma"} <= set(info.read_text().split())


def compare(build, update):
    """The number of documents that do not show what comes out."""
    environment, faults = environment_of(build), 0
    for document in documents():
        text = document.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for block in blocks(text, "c"):
                if named := re.match(r"/\* ([\w-]+\.c) \*/\n", block[2]):
                    (pathlib.Path(folder) / named[1]).write_text(block[2], encoding="utf-8")
            # A program's errors and dumps show the name of its source.
            real = BLOCK.sub(lambda block: f"```console\n{rerun(block[2], folder, environment)}```"
                             if block[1] == "console" else block[0], text)
        if real == text:
            continue
        faults += 1
        name = str(document.relative_to(ROOT))
        print(*difflib.unified_diff(text.splitlines(), real.splitlines(), name, name + " as it should be", lineterm=""), sep="\n")
        if update:
            document.write_text(real, encoding="utf-8")
    return faults


def main():
    command = sys.argv[1] if len(sys.argv) == 3 else ""
    folder = pathlib.Path(sys.argv[2]).resolve() if command else None
    if command == "extract":
        return extract(folder)
    if command not in ("check", "update"):
        sys.exit(__doc__)
    if not has_avx2():
        print("skipped: the documents show code for x86-64-v3, which this processor does not run")
        sys.exit(77)
    faults = compare(folder, command == "update")
    if faults and command == "check":
        sys.exit("The documents above do not show what comes out: './dev documents' brings them up to date.")


if __name__ == "__main__":
    main()
