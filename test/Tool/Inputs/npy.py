"""Makes an npy file of random f32: npy.py OUT.npy SHAPE, for example 2x3."""
import random
import struct
import sys

shape = tuple(int(size) for size in sys.argv[2].split("x"))
count = 1
for size in shape:
    count *= size
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
header += b" " * (-(len(header) + 11) % 64) + b"\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
    file.write(struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))))
