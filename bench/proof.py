"""Proof that a library's messages took the path they were meant for: the bytes that the route's interface counted during a run, over the
bytes that the run's program says it sent. Used by measure.alternate on a route; a library below LEAST is marked in every table and bounds
no goal, so that nobody compares shared memory with TCP.

Headers, acknowledgements and the start of the job come on top, and other programs' bytes where the interface is not the run's own, so the
quotient is above 1: far above where messages are small.
"""
from pathlib import Path

LEAST = 0.5
MARK = "not on this path"


def bytes_of_interface(name):
    return int(Path(f"/sys/class/net/{name}/statistics/tx_bytes").read_text())


def quotients(series, key):
    return [counted / sent for counted, sent in series.counted.get(key, []) if sent > 0]
