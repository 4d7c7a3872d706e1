"""Makes a weights file: weights.py OUT.safetensors NAME:DTYPE:SHAPE[:VALUE]..., for example b:F32:2x3:0.5.

Without a value, element i is i / 8. Sizes are not checked, so that files can be made that do not fit.
"""
import json
import math
import struct
import sys

FORMATS = {"F32": "f", "F64": "d", "I32": "i", "I64": "q"}

header, data = {}, b""
for argument in sys.argv[2:]:
    name, dtype, shape, *value = argument.split(":")
    sizes = [int(size) for size in shape.split("x") if size]
    values = [float(value[0]) if value else i / 8 for i in range(math.prod(sizes))]
    if FORMATS[dtype] in "iq":
        values = [int(v) for v in values]
    bytes_ = struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)
    header[name] = {"dtype": dtype, "shape": sizes, "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
