"""Whether every tensor of one safetensors file is in another with the same bits: same-tensors.py FEW MANY."""
import json
import struct
import sys


def load(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (value["dtype"], value["shape"], data[8 + length + value["data_offsets"][0]:8 + length + value["data_offsets"][1]])
            for name, value in header.items()}


few, many = map(load, sys.argv[1:])
differing = [name for name in few if few[name] != many.get(name)]
sys.exit(f"these differ: {differing}" if differing or not few else 0)
