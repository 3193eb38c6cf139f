"""Proof that a library's messages took the path they were meant for: the bytes that the route's interface counted during a run, over the
bytes that the run must have sent. Used by measure.alternate on a route; a library below LEAST is marked in every table and bounds no goal,
so that nobody compares shared memory with TCP.

What was sent is taken from what a run reports: its blocks last so long, and so many bytes a second passed in them. Warming up, headers and
acknowledgements come on top, and other programs' bytes where the interface is not the run's own, so the quotient is above 1.
"""
from pathlib import Path

LEAST = 0.5
BLOCKS, BLOCK_SECONDS = 20, 0.010  # the programs' defaults, src/tools/bench/settings.h
MARK = "not on this path"


def option(arguments, name, default):
    words = list(map(str, arguments))
    return float(words[words.index(name) + 1]) if name in words[:-1] else default


def sent_bytes(program, ranks, arguments, rows):
    """What a run sent at least, of {row: (value, unit)}; 0 where that cannot be told."""
    blocks = option(arguments, "--blocks", BLOCKS)
    seconds = blocks * option(arguments, "--block-seconds", BLOCK_SECONDS)
    total = 0.0
    for row, (value, unit) in rows.items():
        name, size = row if isinstance(row, tuple) else ("", row) if isinstance(row, int) else (row, 0)
        if value <= 0:
            continue
        if program in ("bandwidth", "unidirectional") and unit == "GB/s":
            total += seconds * value * 1e9
        elif program == "latency" and not name:
            total += seconds / (value * 1e-6) * size
        elif program == "allreduce":
            total += seconds / (value * 1e-6) * size * 2 * (ranks - 1)
        elif program == "overlap" and name.endswith(" alone") and "work" not in name:
            total += blocks * size
    return total


def bytes_of_interface(name):
    return int(Path(f"/sys/class/net/{name}/statistics/tx_bytes").read_text())


def quotients(series, key):
    return [counted / sent for counted, sent in series.counted.get(key, []) if sent > 0]
