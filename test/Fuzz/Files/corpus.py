"""Writes small files, from which the fuzzers start: corpus.py FOLDER PROGRAM.mlir...

FOLDER gets npy/, npz/, safetensors/ and program/.
"""
import io
import json
import pathlib
import re
import struct
import sys
import zipfile

root = pathlib.Path(sys.argv[1])


def put(kind, name, data):
    (root / kind).mkdir(parents=True, exist_ok=True)
    (root / kind / name).write_bytes(data)


def npy(dtype, shape, order, data, version=1):
    header = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


arrays = {
    "f4": npy("<f4", (2, 3), False, bytes(24)),
    "f8-fortran": npy("<f8", (2, 2), True, bytes(range(32))),
    "i2-big": npy(">i2", (3,), False, bytes(6)),
    "bool": npy("|b1", (), False, b"\1"),
    "empty": npy("<i8", (0, 5), False, b""),
    "version3": npy("<f4", (1,), False, bytes(4), 3),
}
for name, data in arrays.items():
    put("npy", name, data)
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in arrays.items():
            archive.writestr(name + ".npy", data)
    put("npz", str(method), file.getvalue())


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


put("safetensors", "two", safetensors({"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                                       "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [16, 19]}}, bytes(19)))
put("safetensors", "metadata", safetensors({"__metadata__": {"k": "v"}, "a": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}}, bytes(8)))
put("safetensors", "none", safetensors({}, b""))
for path in map(pathlib.Path, sys.argv[2:]):
    text = re.sub(r"^ *//.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if "@main" in text:
        put("program", path.stem, text.encode())
        continue
    # Each function of a numeric test is a program.
    for number, function in enumerate(re.findall(r"^func\.func @.*?^}", text, flags=re.MULTILINE | re.DOTALL)):
        put("program", f"{path.stem}-{number}", re.sub(r"@\w+", "@main", function, count=1).encode())
