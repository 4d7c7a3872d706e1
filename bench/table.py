#!/usr/bin/env python3
"""Merges measurements into one table: table.py FOLDER [--json OUT.json].

FOLDER holds, for each round of measuring, ours-THREADS.ROUND.json, a list of {row, threads, ours_ms, roof};
roof-THREADS.ROUND.json, what `roof` prints; and PEER-THREADS.ROUND.json, what peers/peer.py writes; and first.json, what
first.py writes. Each may be absent. Of the rounds, the fastest counts for each row and for each peer, and the highest for
the roofs: what else ran on the processor made the others slower. Printed is a table for each number of threads:

  ratio   our time by that of the best peer: below 1 we are faster
  roof    the fraction of what the machine can do at most; ours_ms's own where it gives one, else from rows.json: the time
          that the FMA rate or the bandwidth of arrays of that size would need, whichever is longer, by our time

OUT.json gets a list of {row, threads, ours_ms, peers: {peer: ms}, first_ms: {peer: ms}, ratio, roof}.
"""
import json
import math
import pathlib
import sys

ORDER = ("torch", "torch.compile", "jax", "onnxruntime", "openvino")
ROWS = json.loads((pathlib.Path(__file__).resolve().parent / "rows.json").read_text())


def faster(results, row, result, key):
    """Keeps the faster of two rounds' results of a row. A peer that refused the row has no time."""
    if row not in results or result.get(key, math.inf) < results[row].get(key, math.inf):
        results[row] = result


def highest(roof, other):
    """The higher of two rounds' roofs, each figure by itself."""
    if roof is None:
        return other
    bandwidth = [{key: max(level[key], more[key]) for key in level}
                 for level, more in zip(roof["bandwidth"], other["bandwidth"])]
    return {**roof, "fma_gflops": max(roof["fma_gflops"], other["fma_gflops"]), "bandwidth": bandwidth}


def load(folder):
    """Everything measured: {threads: {"ours": {row: entry}, "roof": {...}, "peers": {peer: {row: result}}}}."""
    measured = {}
    for path in sorted(folder.glob("*-*.json")):
        name, count = path.stem.rsplit("-", 1)
        threads = count.split(".")[0]
        if not threads.isdigit():
            continue
        content = json.loads(path.read_text())
        group = measured.setdefault(int(threads), {"ours": {}, "roof": None, "peers": {}})
        if name == "ours":
            for entry in content:
                faster(group["ours"], entry["row"], entry, "ours_ms")
        elif name == "roof":
            group["roof"] = highest(group["roof"], content)
        else:
            for row, result in content["rows"].items():
                faster(group["peers"].setdefault(name, {}), row, result, "ms")
    return measured


def least_ms(row, roof):
    """The time that the machine needs at least for the row, or None where that says nothing: calls, unknown rows."""
    work = ROWS.get(row)
    if not roof or not work or row.startswith("call/") or "flops" not in work and "read" not in work:
        return None
    compute = work.get("flops", 0) / (roof["fma_gflops"] * 1e6)
    read, write = work.get("read", 0), work.get("write", 0)
    if read + write == 0:
        return compute
    # The bandwidth of the nearest size at least as large as one of the arrays; reading alone where little is written.
    largest = max(read / (2 if "chain" in row else 1), write) / 1024
    level = next((level for level in roof["bandwidth"] if level["kib"] >= largest), roof["bandwidth"][-1])
    reading = write * 16 < read
    rate = level["read_gbs"] if reading else max(level["copy_gbs"], level["stream_gbs"])
    return max(compute, (read + write) / (rate * 1e6))


def merge(threads, group):
    peers = sorted(group["peers"], key=lambda peer: ORDER.index(peer) if peer in ORDER else len(ORDER))
    found = set(group["ours"]).union(*(group["peers"][peer] for peer in peers))
    entries = []
    for row in [row for row in ROWS if row in found] + sorted(found - set(ROWS)):
        ours = group["ours"].get(row, {})
        beside = ROWS.get(row, {}).get("beside", row)
        results = {peer: group["peers"][peer].get(beside, {}) for peer in peers}
        ms = {peer: result["ms"] for peer, result in results.items() if "ms" in result}
        ours_ms, roof = ours.get("ours_ms"), ours.get("roof")
        if roof is None and ours_ms:
            least = least_ms(row, group["roof"])
            roof = least / ours_ms if least else None
        entries.append({
            "row": row,
            "threads": threads,
            "ours_ms": ours_ms,
            "peers": ms,
            "first_ms": {peer: result["first_ms"] for peer, result in results.items() if "first_ms" in result},
            "ours_first_ms": ours.get("first_ms"),
            "ratio": ours_ms / min(ms.values()) if ours_ms and ms else None,
            "roof": roof,
        })
    return peers, entries


def cell(value, digits=".4g"):
    return "-" if value is None else format(value, digits)


def print_table(title, columns, lines):
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for line in lines:
        print("| " + " | ".join(line) + " |")


def main():
    arguments = sys.argv[1:]
    out = None
    if "--json" in arguments[:-1]:
        at = arguments.index("--json")
        out = arguments[at + 1]
        del arguments[at:at + 2]
    if len(arguments) != 1:
        sys.exit("usage: table.py FOLDER [--json OUT.json]")
    measured = load(pathlib.Path(arguments[0]))
    if not measured:
        sys.exit(f"{arguments[0]} holds no measurements")
    everything = []
    for threads, group in sorted(measured.items()):
        peers, entries = merge(threads, group)
        everything += entries
        plural = "thread" if threads == 1 else "threads"
        print_table(f"{threads} {plural}, milliseconds a call", ["row", "ours", *peers, "ratio", "roof"],
                    [[entry["row"], cell(entry["ours_ms"]), *(cell(entry["peers"].get(peer)) for peer in peers),
                      cell(entry["ratio"], ".2f"), cell(entry["roof"], ".2f")] for entry in entries])
        if group["roof"]:
            roof = group["roof"]
            print(f"\nRoof: {roof['fma_gflops']:.0f} GFLOP/s ({roof['isa']}); read and copy at 64 MiB "
                  f"{roof['bandwidth'][-1]['read_gbs']:.1f} and {roof['bandwidth'][-1]['stream_gbs']:.1f} GB/s.")
    first = pathlib.Path(arguments[0]) / "first.json"
    if first.exists():
        entries = json.loads(first.read_text())
        everything += entries
        peers = sorted({peer for entry in entries for peer in entry["peers"]})
        print_table("First calls, milliseconds", ["row", "ours", *peers, "ratio"],
                    [[entry["row"], cell(entry["ours_ms"]), *(cell(entry["peers"].get(peer)) for peer in peers),
                      cell(entry["ratio"], ".2f")] for entry in entries])
    if out:
        pathlib.Path(out).write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
