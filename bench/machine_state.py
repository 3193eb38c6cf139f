"""Finds out whether two processors are two threads of one core or two cores at this moment.

Used by `bench/run` and `bench/compare` before and after each round, and with --ours before and after each
pair of runs.

A virtual machine may change from one state to the other within minutes, and what is faster in one state may
be slower in the other. Figures are therefore meaningful only together with the state. bench/machine_state.cc
measures two numbers:

| | a cache line | a copy of 64 KiB |
|---|---|---|
| AMD (Zen 3), within a core | 55 to 80 ns | 3 to 8 us |
| AMD (Zen 3), between two cores | at least 240 ns | at least 10 us |
| Intel (family 6, model 207), within a core | 25 ns | 3.3 us |
| Intel (family 6, model 207), between two cores | 120 to 240 ns | 7.7 to 10.7 us |

The line tells the state. If the copies contradict it, the state is called unclear: fast lines with copies of
10.5 us have been observed.
"""
import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from peers import run_quietly

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = [REPOSITORY / "bench" / "machine_state.cc", REPOSITORY / "bench" / "programs" / "pin.cc"]
LONG_LINE_NS = 100
# Copies within a core take less than SLOW, and copies between two cores more than FAST.
FAST_COPY_US, SLOW_COPY_US = 6, 9
ONE_CORE, TWO_CORES = "one core with two threads", "two cores"
UNCLEAR = "unclear: the line and the copies disagree"
UNKNOWN, CHANGED = "not measured", "changed while it was measured"


class Look(NamedTuple):
    line_ns: float
    copy_us: float


def kind(look):
    """Returns the state of the machine according to one look (None if there was no look)."""
    if look is None:
        return UNKNOWN
    if look.line_ns > LONG_LINE_NS:
        return TWO_CORES if look.copy_us > FAST_COPY_US else UNCLEAR
    return ONE_CORE if look.copy_us < SLOW_COPY_US else UNCLEAR


def kind_between(before, after):
    """Returns the state during a run, from the looks before and after it."""
    return kind(before) if kind(before) == kind(after) else CHANGED


def compile_program(folder):
    """Compiles the program into this folder. The compiler is the one that builds Lanyard, so it exists."""
    program = Path(folder) / "machine-state"
    run_quietly(["c++", "-std=c++20", "-O2", "-I", REPOSITORY, "-I", REPOSITORY / "src", *SOURCES,
                 "-o", program], "compiling bench/machine_state.cc")
    return program


def look(program):
    """Takes one look. Returns None if nothing could be measured, for example with one processor."""
    done = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return Look(**json.loads(done.stdout)) if done.returncode == 0 else None
