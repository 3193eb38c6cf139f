"""Proves that the messages of a library used the intended path.

The proof is a quotient: the bytes that the route's interface counted during a run, divided by the bytes that
the program reports as sent. Used by measure.alternate on a route. A library whose quotient is below LEAST is
marked in every table and not used as the bound of a goal, so that shared memory is not compared with TCP.

The interface also counts headers, acknowledgements and the start of the job, and the bytes of other programs
if they share it. The quotient is therefore above 1, and far above 1 for small messages.
"""
from pathlib import Path

LEAST = 0.5
MARK = "not on this path"


def bytes_of_interface(name):
    return int(Path(f"/sys/class/net/{name}/statistics/tx_bytes").read_text())


def quotients(series, key):
    return [counted / sent for counted, sent in series.counted.get(key, []) if sent > 0]
